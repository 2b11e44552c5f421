package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/publish/receive"
)

// testRef returns the dataset whose files are fetched.
func testRef() herb.Ref { return herb.Ref{Namespace: "shop", Name: "prices"} }

// origin is a server that files are fetched from, as example.com.
type origin struct {
	*httptest.Server
	port string
}

func newOrigin(t *testing.T, handler http.HandlerFunc) origin {
	t.Helper()
	s := httptest.NewTLSServer(handler)
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	must.NoError(t, err)
	return origin{s, port}
}

// address returns the address of a file of the origin.
func (o origin) address(path string) string { return "https://example.com:" + o.port + path }

// client returns a client that fetches from the origin.
func (o origin) client(t *testing.T, change func(*ClientOptions)) *Client {
	t.Helper()
	hosts, err := ParseHosts([]string{"example.com:" + o.port, "*.example.com:" + o.port, "127.0.0.0/8"})
	must.NoError(t, err)
	opts := ClientOptions{
		Hosts: hosts, Files: receive.New(receive.Options{Dir: t.TempDir(), MaxSize: 1 << 20}),
		TLS: o.Client().Transport.(*http.Transport).TLSClientConfig,
		Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
			switch host {
			case "private.example.com":
				return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
			case "nowhere.example.com":
				return nil, &net.DNSError{Name: host, IsNotFound: true}
			}
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		},
	}
	if change != nil {
		change(&opts)
	}
	return NewClient(opts)
}

// interrupt ends the connection of a response.
func interrupt(w http.ResponseWriter) {
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// TestClient_hostile fetches from servers that fail in many ways.
func TestClient_hostile(t *testing.T) {
	t.Parallel()
	const secret = "hush-hush"
	for name, c := range map[string]struct {
		handler func(w http.ResponseWriter, r *http.Request, port string)
		change  func(*ClientOptions)
		path    string
		want    string // of the error
	}{
		"not found": {handler: func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(404) },
			want: "the source responded with status 404 Not Found"},
		"no status of a file": {handler: func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(206) },
			want: "status 206"},
		"truncated": {handler: func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "a,b\n")
			interrupt(w)
		}, want: "the file is not complete: the connection was lost, after 4 bytes of 1000 bytes"},
		"truncated chunks": {handler: func(w http.ResponseWriter, _ *http.Request, _ string) {
			_, _ = io.WriteString(w, "a,b\n")
			interrupt(w)
		}, want: "the file is not complete"},
		"endless": {handler: func(w http.ResponseWriter, _ *http.Request, _ string) {
			for err := error(nil); err == nil; {
				_, err = w.Write(make([]byte, 64<<10))
			}
		}, want: "larger than 1 MiB"},
		"announced too large": {handler: func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Content-Length", "1000000000000000000")
		}, want: "larger than 1 MiB"},
		"silent": {handler: func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() },
			change: func(o *ClientOptions) { o.Stall = 50 * time.Millisecond }, want: "sent nothing for too long"},
		"stalls": {handler: func(w http.ResponseWriter, r *http.Request, _ string) {
			_, _ = io.WriteString(w, "a,b\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, change: func(o *ClientOptions) { o.Stall = 50 * time.Millisecond }, want: "sent nothing for too long"},
		"takes too long": {handler: func(w http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() },
			change: func(o *ClientOptions) { o.MaxTime = 50 * time.Millisecond }, want: "was not complete after 50ms"},
		"changes while it is read": {handler: func(w http.ResponseWriter, r *http.Request, _ string) {
			w.Header().Set("Etag", `"`+r.Header.Get("Range")+`"`)
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "a,b\n")
			interrupt(w)
		}, want: "the file has changed while it was fetched"},
		"interrupts for ever": {handler: func(w http.ResponseWriter, r *http.Request, _ string) {
			at := 0
			if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &at); n > 0 {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-999/1000", at))
			}
			w.Header().Set("Etag", `"1"`)
			w.Header().Set("Content-Length", fmt.Sprint(1000-at))
			if at > 0 {
				w.WriteHeader(206)
			}
			_, _ = io.WriteString(w, "a")
			interrupt(w)
		}, want: "the connection was lost, after 6 bytes"},
		"redirects to another host": {handler: func(w http.ResponseWriter, r *http.Request, _ string) {
			http.Redirect(w, r, "https://evil.example/?token="+secret, http.StatusFound)
		}, want: "nothing may be fetched from evil.example; the operator of the server allows it"},
		"redirects to a private address": {handler: func(w http.ResponseWriter, r *http.Request, _ string) {
			http.Redirect(w, r, "https://10.0.0.1/"+secret, http.StatusFound)
		}, want: "nothing may be fetched from 10.0.0.1"},
		"redirects to a private name": {handler: func(w http.ResponseWriter, r *http.Request, port string) {
			http.Redirect(w, r, "https://private.example.com:"+port+"/"+secret, http.StatusFound)
		}, want: "the address 10.0.0.1 is not public"},
		"redirects to another port": {handler: func(w http.ResponseWriter, r *http.Request, _ string) {
			http.Redirect(w, r, "https://example.com:22/", http.StatusFound)
		}, want: "nothing may be fetched from example.com:22"},
		"redirects to plain HTTP": {handler: func(w http.ResponseWriter, r *http.Request, _ string) {
			http.Redirect(w, r, "http://example.com/", http.StatusFound)
		}, want: "does not begin with https://"},
		"redirects to a file": {handler: func(w http.ResponseWriter, r *http.Request, _ string) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		}, want: "does not begin with https://"},
		"redirects for ever": {handler: func(w http.ResponseWriter, r *http.Request, _ string) {
			http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
		}, want: "redirects more than 5 times"},
		"expired certificate": {change: func(o *ClientOptions) {
			o.TLS = o.TLS.Clone()
			o.TLS.Time = func() time.Time { return time.Now().AddDate(200, 0, 0) }
		}, want: "certificate has expired"},
		"another certificate": {change: func(o *ClientOptions) { o.TLS = &tls.Config{} }, want: "certificate"},
		"down": {change: func(o *ClientOptions) {
			o.Lookup = func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("127.99.0.1")}, nil // nothing listens there
			}
		}, want: "cannot fetch the file: connect: connection refused"},
		"huge header": {handler: func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("X-A", strings.Repeat("a", 1<<20))
		}, want: "cannot fetch the file"},
		"internal error": {handler: func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(500) },
			want: "status 500 Internal Server Error"},
		"slow": {handler: func(w http.ResponseWriter, _ *http.Request, _ string) {
			for err := error(nil); err == nil; {
				_, err = w.Write([]byte("a"))
				err = errors.Join(err, http.NewResponseController(w).Flush())
			}
		}, change: func(o *ClientOptions) { o.MaxTime = 50 * time.Millisecond }, want: "was not complete after 50ms"},
		"another part": {handler: func(w http.ResponseWriter, r *http.Request, _ string) {
			w.Header().Set("Etag", `"1"`)
			w.Header().Set("Content-Length", "1000")
			if r.Header.Get("Range") != "" {
				w.Header().Set("Content-Range", "bytes 0-999/1000")
				w.WriteHeader(206)
			}
			_, _ = io.WriteString(w, "a,b\n")
			interrupt(w)
		}, want: "the file has changed while it was fetched"},
		"another end": {handler: func(w http.ResponseWriter, r *http.Request, _ string) {
			w.Header().Set("Etag", `"1"`)
			if r.Header.Get("Range") != "" {
				w.Header().Set("Content-Range", "bytes 4-9/10")
				w.WriteHeader(206)
				_, _ = io.WriteString(w, "1,2\n3\n")
				return
			}
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "a,b\n")
			interrupt(w)
		}, want: "the file is not complete: it has 10 bytes of 1000 bytes"},
		"no hosts": {change: func(o *ClientOptions) { o.Hosts = Hosts{} }, want: "this server fetches nothing"},
		"no credentials": {path: "credentials",
			want: `the server has no credentials "crm" of shop/prices for example.com`},
		"credentials of another host": {path: "credentials", change: func(o *ClientOptions) {
			o.Credentials = map[string]Credentials{"crm": {"*", "other.example.com", "Authorization", secret}}
		}, want: `the server has no credentials "crm" of shop/prices for example.com`},
		"credentials of another dataset": {path: "credentials", change: func(o *ClientOptions) {
			o.Credentials = map[string]Credentials{"crm": {"shop/other", o.Hosts.names[0], "Authorization", secret}}
		}, want: `the server has no credentials "crm" of shop/prices for example.com`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var o origin
			o = newOrigin(t, func(w http.ResponseWriter, r *http.Request) {
				if c.handler != nil {
					c.handler(w, r, o.port)
				}
			})
			source := herb.FetchSource{Address: o.address("/a.csv")}
			if c.path == "credentials" {
				source.Credentials = "crm"
			}
			f, _, err := o.client(t, c.change).fetch(t.Context(), testRef(), source, validators{})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) ||
				strings.Contains(err.Error(), "a.csv") {
				t.Errorf("%v; want %q", err, c.want)
			}
			if f != nil {
				t.Errorf("%d bytes were received", f.Size)
			}
		})
	}
}

// TestClient_addresses fetches from addresses that are not allowed, without a connection.
func TestClient_addresses(t *testing.T) {
	t.Parallel()
	o := newOrigin(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
	c := o.client(t, nil)
	for address, want := range map[string]string{
		"https://private.example.com:" + o.port:        "not public",
		"https://nowhere.example.com:" + o.port + "/x": "nowhere.example.com was not found",
		"https://example.com.evil.org/":                "nothing may be fetched from example.com.evil.org",
		"https://example.org/":                         "nothing may be fetched from example.org",
		"https://127.0.0.1:" + o.port + "/":            "nothing may be fetched from 127.0.0.1",
		"http://example.com:" + o.port + "/":           "not an address",
		"file:///etc/passwd":                           "not an address",
		"https://user:hush@example.com/":               "contains a user or a password",
		"https://example.com/?api_key=hush":            `the parameter "api_key" of the address is a secret`,
		"https://example.com/?X-Amz-Signature=hush":    "is a secret",
		"s3://other-bucket/a.csv":                      "nothing may be fetched from s3://other-bucket",
		"s3://bucket/a?endpoint=http://127.0.0.1":      "without parameters",
		"https://" + strings.Repeat("a", 1<<20):        "not an address",
	} {
		_, err := c.Fetch(t.Context(), testRef(), herb.FetchSource{Address: address})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%.100s: %.300v; want %q", address, err, want)
		}
	}
}

// TestClient_conditional fetches a file that changes now and then.
func TestClient_conditional(t *testing.T) {
	t.Parallel()
	content, tag, requests := "a\n1\n", `"1"`, atomic.Int64{}
	o := newOrigin(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if tag == "flapping" {
			w.Header().Set("Etag", fmt.Sprintf(`"%d"`, requests.Load()))
		} else if tag != "" {
			w.Header().Set("Etag", tag)
		}
		if tag != "" && r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Disposition", `attachment; filename="../../prices.csv"`)
		_, _ = io.WriteString(w, content)
	})
	c, known := o.client(t, nil), validators{}
	fetch := func(want string) {
		t.Helper()
		f, is, err := c.fetch(t.Context(), testRef(), herb.FetchSource{Address: o.address("/")}, known)
		known = is
		if want == "" {
			if !errors.Is(err, errUnchanged) || f != nil {
				t.Errorf("%v, %v; want no change", f, err)
			}
			return
		}
		must.NoError(t, err)
		got, err := io.ReadAll(f.Content())
		if err != nil || string(got) != want || f.Name != "prices.csv" {
			t.Errorf("%s has %q, %v; want %q", f.Name, got, err, want)
		}
		must.NoError(t, f.Close())
	}
	fetch("a\n1\n")
	fetch("") // 304
	tag = ""
	fetch("") // the same content
	tag = "flapping"
	fetch("")
	content = "a\n2\n"
	fetch("a\n2\n")
	if n := requests.Load(); n != 5 {
		t.Errorf("%d requests", n)
	}
}

// TestClient_modified fetches a file without a tag that changes again within a second.
func TestClient_modified(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, tt := range map[string]struct {
		modified time.Duration // before the response
		date     string
		want     int // requests that are answered without a file
	}{
		"a second ago": {time.Second, now.Format(http.TimeFormat), 0},
		"a minute ago": {time.Minute, now.Format(http.TimeFormat), 1},
		"no date":      {time.Minute, "unknown", 0},
	} {
		unchanged := 0
		o := newOrigin(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", tt.date)
			w.Header().Set("Last-Modified", now.Add(-tt.modified).Format(http.TimeFormat))
			if r.Header.Get("If-Modified-Since") != "" {
				unchanged++
				w.WriteHeader(http.StatusNotModified)
				return
			}
			_, _ = io.WriteString(w, "a\n1\n")
		})
		c := o.client(t, nil)
		f, is, err := c.fetch(t.Context(), testRef(), herb.FetchSource{Address: o.address("/")}, validators{})
		must.NoError(t, err)
		must.NoError(t, f.Close())
		_, _, err = c.fetch(t.Context(), testRef(), herb.FetchSource{Address: o.address("/")}, is)
		if !errors.Is(err, errUnchanged) || unchanged != tt.want {
			t.Errorf("%s: %v, %d responses without a file", name, err, unchanged)
		}
	}
}

// TestClient_resumes fetches a file whose connection is lost.
func TestClient_resumes(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("0123456789", 20_000)
	var credentials []string
	o := newOrigin(t, func(w http.ResponseWriter, r *http.Request) {
		credentials = append(credentials, r.Header.Get("Authorization"))
		w.Header().Set("Etag", `"1"`)
		if r.Header.Get("Range") == "" {
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			_, _ = io.WriteString(w, content[:70_000])
			interrupt(w)
		}
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
	})
	c := o.client(t, func(c *ClientOptions) {
		c.Credentials = map[string]Credentials{
			"crm": {"shop/*", "example.com:" + o.port, "Authorization", "Bearer hush"}}
	})
	f, err := c.Fetch(t.Context(), testRef(), herb.FetchSource{Address: o.address("/a.csv"), Credentials: "crm"})
	must.NoError(t, err)
	got, err := io.ReadAll(f.Content())
	if err != nil || string(got) != content || strings.Join(credentials, ",") != "Bearer hush,Bearer hush" {
		t.Errorf("%d bytes, %v, %v", len(got), err, credentials)
	}
	must.NoError(t, f.Close())
}

// TestClient_credentials follows a redirect to another host, which must not get the credentials.
func TestClient_credentials(t *testing.T) {
	t.Parallel()
	var sent []string
	var o origin
	o = newOrigin(t, func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Host[:strings.Index(r.Host, ":")]+" "+r.Header.Get("X-Key")+r.Header.Get("Referer"))
		if r.URL.Path == "/a" {
			http.Redirect(w, r, "https://files.example.com:"+o.port+"/b", http.StatusFound)
		}
	})
	c := o.client(t, func(c *ClientOptions) {
		c.TLS = &tls.Config{InsecureSkipVerify: true}
		c.Credentials = map[string]Credentials{"crm": {"shop/prices", "example.com:" + o.port, "X-Key", "hush"}}
	})
	f, err := c.Fetch(t.Context(), testRef(), herb.FetchSource{Address: o.address("/a"), Credentials: "crm"})
	must.NoError(t, err)
	must.NoError(t, f.Close())
	if got := strings.Join(sent, ","); got != "example.com hush,files.example.com " {
		t.Errorf("sent %s", got)
	}
}

func TestClient_retryAfter(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{
		"120": 2 * time.Minute, "1000000000000000000": 0, "86401": maxRetryAfter, "-1": 0, "soon": 0, "": 0,
		"Wed, 21 Oct 2150 07:28:00 GMT": maxRetryAfter, "Wed, 21 Oct 2015 07:28:00 GMT": 0,
	} {
		o := newOrigin(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", value)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		_, err := o.client(t, nil).Fetch(t.Context(), testRef(), herb.FetchSource{Address: o.address("/a")})
		retry, ok := errors.AsType[*retryError](err)
		if value == "1000000000000000000" {
			want = maxRetryAfter
		}
		if !ok || retry.after != want {
			t.Errorf("%q: %v; want %s", value, err, want)
		}
	}
}

func TestParseHosts(t *testing.T) {
	t.Parallel()
	for _, list := range []string{"https://example.org", "a b", "*", "*.*.org", "example.org/x", "s3://bucket/prefix",
		"s3://bucket?token=hush", "user@example.org", "10.0.0.0/99", strings.Repeat("a", 1<<20) + "/"} {
		if _, err := ParseHosts([]string{list}); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%.50s: %v", list, err)
		}
	}
	h, err := ParseHosts([]string{" Data.example.org", "*.gov.uk", "[::1]:8443", "10.0.0.0/8", "192.168.1.1", "",
		"s3://bucket?region=eu-central-1"})
	must.NoError(t, err)
	for a, want := range map[string]bool{"10.9.9.9": true, "192.168.1.1": true, "192.168.1.2": false, "8.8.8.8": true,
		"127.0.0.1": false, "::ffff:10.0.0.1": true} {
		if err := h.checkAddress(netip.MustParseAddr(a)); (err == nil) != want {
			t.Errorf("%s: %v", a, err)
		}
	}
	if at, err := h.bucket("bucket", "a/b"); err != nil || at != "s3://bucket/a/b?region=eu-central-1" {
		t.Errorf("%s, %v", at, err)
	}
}

func TestParseCredentials(t *testing.T) {
	t.Parallel()
	all, err := ParseCredentials("crm shop/* data.example.org Authorization: Bearer a:b\n\n b * B.example X-Key:c")
	if err != nil || all["crm"] != (Credentials{"shop/*", "data.example.org", "Authorization", "Bearer a:b"}) ||
		all["b"] != (Credentials{"*", "b.example", "X-Key", "c"}) {
		t.Errorf("%+v, %v", all, err)
	}
	for _, text := range []herb.Secret{"crm hush", "crm * a.org Authorization:", "a b: hush",
		"a b c: hush", "a shop b c: hush", "a * b c: hush\na * b c: hush"} {
		if _, err := ParseCredentials(text); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%v", err)
		}
	}
}
