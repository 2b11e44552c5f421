package webhooks

import (
	"context"
	"errors"
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
)

// TestMessage_sign signs the example of the specification.
func TestMessage_sign(t *testing.T) {
	t.Parallel()
	m := Message{ID: "msg_p5jXN8AQM9LWM0D4loKWxJek", Body: []byte(`{"test": 2432232314}`)}
	got, err := m.sign("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 1614265330)
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; err != nil || got != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	if _, err := m.sign("whsec_hush!", 0); err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("a malformed secret: %v", err)
	}
	if s := string(NewSecret()); len(s) != len(secretPrefix)+44 || s == string(NewSecret()) {
		t.Errorf("the secret %s", s)
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{ // what is permitted
		"https://example.org/hook?token=hush": "public", "https://8.8.8.8": "public",
		"https://[2606:4700::1111]:8443/": "public",
		"http://example.org":              "private", "https://127.0.0.1/": "private", "https://[::1]/": "private",
		"https://LocalHost:8443/x": "private", "https://a.localhost./": "private",
		"https://localhost.example.org": "public", "https://127.0.0.1./": "private",
		"http://10.0.0.7:9000/x": "private",
		"":                       "none", "example.org/hush": "none", "ftp://example.org/hush": "none",
		"https:///hush":              "none",
		"https://example.org/#hush":  "none",
		"https://example.org:0/hush": "none", "https://example.org:99999/hush": "none",
		"https://exa mple.org/hush":                            "none",
		"https://example.org/hush" + strings.Repeat("x", 2000): "none",
	} {
		got, err := "none", CheckURL(url, true)
		public := CheckURL(url, false)
		switch {
		case public == nil:
			got = "public"
		case err == nil:
			got = "private"
		}
		if got != want || strings.Contains(errors.Join(err, public, herb.Invalidf("-")).Error(), "hush") {
			t.Errorf("%s is permitted as %s, want %s: %v, %v", url, got, want, err, public)
		}
	}
}

// send sends a message to a URL.
func send(t *testing.T, s *Sender, url string, private bool) Result {
	t.Helper()
	w := herb.Webhook{ID: "a", URL: herb.Address(url), Secret: NewSecret(), Private: private}
	m, err := NewTestMessage(w, time.Now())
	must.NoError(t, err)
	return s.Send(t.Context(), w, m)
}

// TestSender_private looks up names of addresses that are not public, as an attacker who controls a
// name would have them answer: once for each request, and no connection is made.
func TestSender_private(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, 200)
	_, port, err := net.SplitHostPort(r.Listener.Addr().String())
	must.NoError(t, err)
	var lookups atomic.Int64
	s := NewSender(SenderOptions{Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
		lookups.Add(1)
		return map[string][]netip.Addr{
			"rebound.example": {netip.MustParseAddr("127.0.0.1")},
			"mapped.example":  {netip.MustParseAddr("::ffff:127.0.0.1"), netip.MustParseAddr("169.254.169.254")},
			"nowhere.example": nil,
		}[host], nil
	}})
	for host, want := range map[string]string{
		"rebound.example": "the address 127.0.0.1 is not public",
		"mapped.example":  "the address 169.254.169.254 is not public",
		"nowhere.example": "no address of nowhere.example was found",
	} {
		lookups.Store(0)
		for _, scheme := range []string{"http", "https"} {
			if got := send(t, s, scheme+"://"+host+":"+port+"/hush", false); got.Delivered() ||
				!strings.Contains(got.String(), want) || strings.Contains(got.String(), "hush") {
				t.Errorf("%s: %s", host, got)
			}
		}
		if n := lookups.Load(); n != 2 {
			t.Errorf("%s: %d lookups for two requests", host, n)
		}
	}
	if r.received() != 0 {
		t.Error("a private address received an event")
	}
	if got := send(t, s, "http://rebound.example:"+port, true); !got.Delivered() {
		t.Errorf("permitted: %s", got)
	}
}

// TestSender_results sends to endpoints that misbehave.
func TestSender_results(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
		case "/slow":
			<-release
		case "/endless":
			for _, err := w.Write(make([]byte, 1<<10)); err == nil && r.Context().Err() == nil; {
				_, err = w.Write(make([]byte, 1<<10))
			}
		case "/headers":
			w.Header().Set("X", strings.Repeat("x", 1<<20))
		case "/broken":
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(endpoint.Close)
	t.Cleanup(func() { close(release) })
	for path, want := range map[string]string{
		"/": "status 200", "/redirect": "status 307; redirects are not followed", "/endless": "status 200",
		"/slow":    "no response within 100ms",
		"/headers": "server response headers exceeded", "/broken": "EOF",
	} {
		options := SenderOptions{}
		if path == "/slow" {
			options.Timeout = 100 * time.Millisecond
		}
		if got := send(t, NewSender(options), endpoint.URL+path, true); !strings.Contains(got.String(), want) {
			t.Errorf("%s: %s; want %q", path, got, want)
		}
	}
}
