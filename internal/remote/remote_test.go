package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"herbarium/internal/cli"
	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/programtest"
	"herbarium/internal/progress"
	"herbarium/internal/remote"
	"herbarium/internal/versions"
)

// serve starts a server and returns its address and a key that may publish everything.
func serve(t *testing.T) (url, key string) {
	t.Helper()
	data := t.TempDir() + "/data"
	env := func(name string) (string, bool) {
		value, ok := map[string]string{"HERBARIUM_DATA": data, "HERBARIUM_ADDR": "127.0.0.1:0"}[name]
		return value, ok
	}
	ctx, cancel := context.WithCancel(context.Background())
	out, log := &programtest.Buffer{}, &programtest.Buffer{}
	pr, pw := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- cli.Run(ctx, []string{"serve"}, cli.Terminal{Out: io.MultiWriter(out, pw), Err: log, Env: env})
		pw.Close()
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("serve ended with exit code %d\n%s", code, log)
		}
	})
	address := regexp.MustCompile(`listens on (http://\S+)`)
	var banner []byte
	buf := make([]byte, 1<<10)
	for url == "" {
		n, err := pr.Read(buf)
		banner = append(banner, buf[:n]...)
		if m := address.FindSubmatch(banner); m != nil {
			url = string(m[1])
		} else if err != nil {
			t.Fatalf("serve did not print its address\n%s%s", banner, log)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, pr) }()
	var created bytes.Buffer
	if code := cli.Run(ctx, []string{"keys", "create", "--name", "ci", "--scope", "publish"},
		cli.Terminal{Out: &created, Err: log, Env: env}); code != 0 {
		t.Fatalf("cannot create a key: %s", log)
	}
	return url, strings.TrimSpace(created.String())
}

// transport is a connection to a server that fails now and then. Each element of faults is about
// one request: "" sends it, "lost" fails before it is sent, "unheard" drops the response, a number
// is the status of a proxy.
type transport struct {
	mu       sync.Mutex
	faults   []string
	requests []*http.Request
}

func (f *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, r)
	fault := ""
	if len(f.faults) > 0 {
		fault, f.faults = f.faults[0], f.faults[1:]
	}
	switch fault {
	case "":
		return http.DefaultTransport.RoundTrip(r)
	case "lost":
		return nil, errors.New("connection reset")
	case "unheard":
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		return nil, errors.Join(errors.New("connection reset"), resp.Body.Close())
	}
	w := httptest.NewRecorder()
	w.Header().Set("Retry-After", "7")
	w.WriteHeader(http.StatusServiceUnavailable)
	fmt.Fprint(w, "a page of a proxy")
	return w.Result(), nil
}

func file(dataset, content string) remote.File {
	ref, err := herb.ParseRef(dataset)
	if err != nil {
		panic(err)
	}
	return remote.File{Ref: ref, Content: io.NewSectionReader(strings.NewReader(content), 0, int64(len(content))),
		Name: "file.csv"}
}

func TestPublish_retries(t *testing.T) {
	t.Parallel()
	url, key := serve(t)
	for i, c := range []struct {
		faults    []string
		pauses    string
		unchanged bool
		message   string
	}{
		{faults: nil, pauses: "[]"},
		{faults: []string{"lost"}, pauses: "[1s]"},
		{faults: []string{"unheard"}, pauses: "[1s]", unchanged: true},
		{faults: []string{"lost", "503", "lost"}, pauses: "[1s 7s 4s]"},
		{faults: []string{"lost", "lost", "lost", "lost", "lost"}, pauses: "[1s 2s 4s 8s]",
			message: "no response from " + url + ": connection reset"},
		{faults: []string{"503", "503", "503", "503", "503"}, pauses: "[7s 7s 7s 8s]",
			message: "the server returned the status 503 Service Unavailable"},
	} {
		connection := &transport{faults: c.faults}
		pauses := []time.Duration{}
		client, err := remote.New(remote.Options{
			URL: url, Key: key, Transport: connection,
			Pause: func(_ context.Context, d time.Duration) error {
				pauses = append(pauses, d)
				return nil
			},
		})
		must.NoError(t, err)
		result, err := client.Publish(t.Context(), file(fmt.Sprintf("shop/d%d", i), "a,b\n1,2\n"), nil)
		if c.message != "" {
			if err == nil || err.Error() != c.message || herb.CodeOf(err) != herb.CodeUnavailable {
				t.Errorf("%q: error %v; want %q", c.faults, err, c.message)
			}
		} else if err != nil || (result.Status == versions.StatusUnchanged) != c.unchanged || result.Records != 1 ||
			result.Version == "" {
			t.Errorf("%q: %+v, %v", c.faults, result, err)
		}
		if got := fmt.Sprint(pauses); got != c.pauses {
			t.Errorf("%q: pauses %s; want %s", c.faults, got, c.pauses)
		}
		for _, r := range connection.requests {
			if d := r.Header.Get("Content-Digest"); d == "" ||
				d != connection.requests[0].Header.Get("Content-Digest") {
				t.Errorf("%q: the digest is %q", c.faults, d)
			}
		}
	}
}

// TestPublish_follow checks that the state of a long publish is followed, also if a request for it
// fails, and that the file is sent again if the server stops meanwhile.
func TestPublish_follow(t *testing.T) {
	t.Parallel()
	var requests []string
	replies := []struct {
		status int
		body   string
	}{
		{202, `{"id":"abc","state":"received"}`},
		{200, `{"id":"abc","state":"building","progress":{"phase":"indexing","step":2,"steps":4,"done":5,"total":10,"records":48}}`},
		{502, `nothing`},
		{200, `{"id":"abc","state":"failed","status":503,"result":{"error":503,"message":"the server stopped","dataset":"shop/d","status":"failed","records":0}}`},
		{202, `{"id":"def","state":"received"}`},
		{200, `{"id":"def","state":"rejected","status":409,"result":{"error":409,"message":"rejected: a field is gone","dataset":"shop/d","status":"rejected","records":3,
			"changes":[{"kind":"field_removed","message":"field \"a\" is removed","breaking":true}]}}`},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		requests = append(requests, r.Method+" "+r.URL.Path+" "+r.Header.Get("X-Api-Key"))
		w.Header().Set("Location", "https://elsewhere.example/api/v1/publishes/abc") // must not get the key
		w.WriteHeader(replies[0].status)
		fmt.Fprint(w, replies[0].body)
		replies = replies[1:]
	}))
	defer server.Close()
	client, err := remote.New(remote.Options{URL: server.URL + "/data/", Key: "k",
		Pause: func(context.Context, time.Duration) error { return nil }})
	must.NoError(t, err)
	var phases []string
	result, err := client.Publish(t.Context(), file("shop/d", "a\n1\n"), func(p progress.Progress) {
		phases = append(phases, fmt.Sprintf("%s %d/%d", p.Phase, p.Done, p.Total))
	})
	if herb.CodeOf(err) != herb.CodeRejected || err.Error() != "rejected: a field is gone" ||
		len(result.Changes) != 1 || result.Records != 3 {
		t.Errorf("%+v, %v", result, err)
	}
	const put, first, second = "PUT /data/api/v1/shop/d/source k", "GET /data/api/v1/publishes/abc k",
		"GET /data/api/v1/publishes/def k"
	if got, want := strings.Join(requests, "\n"), strings.Join([]string{put, first, first, first, put, second},
		"\n"); got != want {
		t.Errorf("the requests are\n%s\nwant\n%s", got, want)
	}
	for _, want := range []string{"computing the digest 4/4", "uploading 4/4", "indexing 5/10"} {
		if !strings.Contains(strings.Join(phases, "\n"), want) {
			t.Errorf("no %q in %q", want, phases)
		}
	}
}

// TestPublish_redirect checks that the key is not sent to another server.
func TestPublish_redirect(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	client, err := remote.New(remote.Options{URL: server.URL, Key: "k"})
	must.NoError(t, err)
	_, err = client.Publish(t.Context(), file("shop/d", "a\n1\n"), nil)
	if err == nil || !strings.Contains(err.Error(), "redirects to "+other.URL) {
		t.Errorf("error %v", err)
	}
	_, err = client.Report(t.Context(), herb.Ref{Namespace: "shop", Name: "d"}, "")
	if err == nil || !strings.Contains(err.Error(), "redirects to "+other.URL) {
		t.Errorf("error %v", err)
	}
}
