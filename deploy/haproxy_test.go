//go:build linux

package deploy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

const haproxyConfig = "haproxy/haproxy.cfg"

func TestHAProxy_configuration(t *testing.T) {
	t.Parallel()
	haproxy := programtest.LookPath(t, "haproxy")
	for name, env := range map[string][]string{
		"one node":    {"BIND=127.0.0.1:8080", "NODE1=127.0.0.1:8081"},
		"three nodes": {"BIND=:8080", "NODE1=10.0.0.1:8080", "NODE2=10.0.0.2:8080", "NODE3=[2001:db8::3]:8080"},
		"everything": {"BIND=:8080 maxconn 500", "NODE1=10.0.0.1:8080", "NODE2=10.0.0.2:8080", "NODE3=10.0.0.3:8080",
			"STATS=127.0.0.1:8404", "CHROOT=" + t.TempDir()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), haproxy, "-c", "-f", haproxyConfig)
			cmd.Env = env
			out, err := cmd.CombinedOutput()
			if err != nil || bytes.Contains(out, []byte("[WARNING]")) {
				t.Errorf("haproxy -c: %v\n%s", err, out)
			}
		})
	}
}

// node is a fake node behind the proxy.
type node struct {
	name     string
	addr     string
	away     atomic.Bool // /readyz responds with 503
	dies     atomic.Bool // requests are read and the connection is closed without a response
	waits    atomic.Bool // requests are answered once released is closed, checks immediately
	hangs    atomic.Bool // like waits, and so are checks: the process is stopped
	busy     atomic.Bool // requests are answered with 503
	released chan struct{}
	release  func() // closes released
	requests atomic.Int64
	last     atomic.Pointer[http.Header]
}

func newNode(t *testing.T, name string) *node {
	t.Helper()
	n := &node{name: name, released: make(chan struct{})}
	n.release = sync.OnceFunc(func() { close(n.released) })
	server := httptest.NewServer(n)
	t.Cleanup(server.Close)
	t.Cleanup(n.release) // first
	n.addr = server.Listener.Addr().String()
	return n
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/readyz" {
		if n.hangs.Load() {
			<-n.released
		}
		if n.away.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return
	}
	n.requests.Add(1)
	n.last.Store(&r.Header)
	_, _ = io.Copy(io.Discard, r.Body)
	if n.hangs.Load() || n.waits.Load() {
		<-n.released
	}
	if n.dies.Load() {
		panic(http.ErrAbortHandler)
	}
	if id := r.Header.Get("X-Request-Id"); id != "" {
		w.Header().Set("X-Request-Id", id)
	}
	if n.busy.Load() {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = io.WriteString(w, n.name)
}

// proxy is a HAProxy that runs with the configuration of this folder.
type proxy struct {
	*programtest.Process
	url string
}

// proxyClient opens a connection for each request, so that HAProxy selects a node for each.
var proxyClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}

// startProxy runs HAProxy in front of nodes.
func startProxy(t *testing.T, config string, nodes ...string) *proxy {
	t.Helper()
	process, url := programtest.StartHAProxy(t, config, nodes...)
	return &proxy{process, url}
}

// do sends a request.
func (p *proxy) do(t *testing.T, method, path string, headers ...string) programtest.Response {
	t.Helper()
	body := ""
	if method == http.MethodPost {
		body = `{"id":1,"name":"Rose"}`
	}
	resp, err := programtest.Send(t.Context(), proxyClient, method, p.url+path, body, headers...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp
}

// until sends requests until the response is the expected one.
func (p *proxy) until(t *testing.T, what string, wanted func(programtest.Response) bool) (resp programtest.Response) {
	t.Helper()
	err := programtest.Eventually(t.Context(), func(context.Context) error {
		resp = p.do(t, http.MethodGet, "/")
		if !wanted(resp) {
			return errors.New(what)
		}
		return nil
	})
	must.NoError(t, err)
	return resp
}

func TestHAProxy_health(t *testing.T) {
	t.Parallel()
	a, b := newNode(t, "a"), newNode(t, "b")
	p := startProxy(t, haproxyConfig, a.addr, b.addr)
	answeredBy := func(n *node) func(programtest.Response) bool {
		return func(resp programtest.Response) bool { return resp.Body == n.name }
	}
	// in sends enough requests in a row for each active node to get some of them.
	in := func(n *node) bool {
		before := n.requests.Load()
		for range 10 {
			p.do(t, http.MethodGet, "/")
		}
		return n.requests.Load() > before
	}
	p.until(t, "a answers", answeredBy(a))
	p.until(t, "b answers", answeredBy(b))

	a.away.Store(true)
	p.until(t, "a is left out", func(programtest.Response) bool { return !in(a) })
	if !in(b) {
		t.Error("b gets no requests although a is not ready")
	}

	b.away.Store(true)
	resp := p.until(t, "none is left", func(resp programtest.Response) bool { return resp.Status != http.StatusOK })
	checkError(t, resp, http.StatusServiceUnavailable)
	if resp.Header.Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}

	a.away.Store(false)
	p.until(t, "a is back", answeredBy(a))
	if in(b) {
		t.Error("b gets requests although it is not ready")
	}
}

// checkError checks that an error of the proxy itself looks like an error of a node.
func checkError(t *testing.T, resp programtest.Response, status int) {
	t.Helper()
	var content struct {
		Error   int    `json:"error"`
		Message string `json:"message"`
	}
	err := json.Unmarshal([]byte(resp.Body), &content)
	if err != nil || resp.Status != status || content.Error != status || content.Message == "" {
		t.Errorf("%d %q (%v); want an Error of %d", resp.Status, resp.Body, err, status)
	}
	got := map[string]string{}
	for _, name := range []string{"Content-Type", "Cache-Control", "Access-Control-Allow-Origin"} {
		got[name] = resp.Header.Get(name)
	}
	want := map[string]string{
		"Content-Type": "application/json", "Cache-Control": "no-store", "Access-Control-Allow-Origin": "*",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if resp.Header.Get("X-Request-Id") == "" {
		t.Error("no X-Request-Id")
	}
}

// TestHAProxy_unavailable sends requests to nodes of which some answer with 503: another one gets
// a GET or HEAD, and the 503 of the last one is passed on.
func TestHAProxy_unavailable(t *testing.T) {
	t.Parallel()
	const each = 20
	a, b, c := newNode(t, "a"), newNode(t, "b"), newNode(t, "c")
	p := startProxy(t, haproxyConfig, a.addr, b.addr, c.addr)
	a.busy.Store(true)
	b.busy.Store(true)
	// A retry avoids only the node before it, so that the second one rarely meets the first node again.
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		unavailable := 0
		for range each {
			if resp := p.do(t, method, "/api/v1"); resp.Status == http.StatusServiceUnavailable {
				unavailable++
			}
		}
		if unavailable > each/4 {
			t.Fatalf("%d of %d %s requests are not retried on the third node", unavailable, each, method)
		}
	}
	retried := c.requests.Load()
	passed := 0
	for range each {
		if resp := p.do(t, http.MethodPost, "/plants"); resp.Status == http.StatusServiceUnavailable {
			passed++
		}
	}
	if n := c.requests.Load(); passed == 0 || int64(passed)+n-retried != each {
		t.Errorf("of %d POST requests, %d got a 503, and the third node has got %d requests in all", each, passed, n)
	}
	c.busy.Store(true)
	resp := p.do(t, http.MethodGet, "/api/v1")
	if resp.Status != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "7" || len(resp.Body) != 1 {
		t.Errorf("all nodes are busy: %d %q; want the response of a node", resp.Status, resp.Body)
	}
}

func TestHAProxy_retries(t *testing.T) {
	t.Parallel()
	const each = 20
	a, b := newNode(t, "a"), newNode(t, "b")
	p := startProxy(t, haproxyConfig, a.addr, b.addr)
	a.dies.Store(true)
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		for range each {
			if resp := p.do(t, method, "/api/v1"); resp.Status != http.StatusOK {
				t.Fatalf("%s is not retried on the other node: %d %s", method, resp.Status, resp.Body)
			}
		}
	}
	if a.requests.Load() == 0 {
		t.Error("no request was sent to the node that closes connections, so retries were not tested")
	}

	a.requests.Store(0)
	b.requests.Store(0)
	failed := 0
	for range each {
		if resp := p.do(t, http.MethodPost, "/plants"); resp.Status != http.StatusOK {
			checkError(t, resp, http.StatusBadGateway)
			failed++
		}
	}
	got := []int64{a.requests.Load(), b.requests.Load()}
	if want := []int64{int64(failed), int64(each - failed)}; failed == 0 || !cmp.Equal(want, got) {
		t.Errorf("%d of %d creations failed and the nodes got %v; want %v: each is sent once", failed, each, got, want)
	}
}

// TestHAProxy_hangs checks what becomes of the requests of a node that stops answering: listings are
// answered by another node, creations fail and are not repeated.
func TestHAProxy_hangs(t *testing.T) {
	t.Parallel()
	const each = 8
	a, b := newNode(t, "a"), newNode(t, "b")
	p := startProxy(t, haproxyConfig, a.addr, b.addr)
	a.hangs.Store(true)
	var failed atomic.Int64
	var sending sync.WaitGroup
	for range each {
		sending.Go(func() {
			if resp := p.do(t, http.MethodGet, "/api/v1"); resp.Status != http.StatusOK || resp.Body != "b" {
				t.Errorf("a listing is not retried on the other node: %d %s", resp.Status, resp.Body)
			}
		})
		sending.Go(func() {
			if resp := p.do(t, http.MethodPost, "/plants"); resp.Status != http.StatusOK {
				checkError(t, resp, http.StatusBadGateway)
				failed.Add(1)
			}
		})
	}
	sending.Wait()
	if retried := a.requests.Load() - failed.Load(); retried <= 0 || failed.Load() == 0 {
		t.Errorf("the node that hangs got %d listings and %d creations, so nothing was tested", retried, failed.Load())
	}
	if got, want := b.requests.Load(), 2*each-failed.Load(); got != want {
		t.Errorf("the other node got %d requests; want %d: each listing, and no failed creation", got, want)
	}
}

// TestHAProxy_drains checks that a node that is stopping finishes its requests.
func TestHAProxy_drains(t *testing.T) {
	t.Parallel()
	a := newNode(t, "a")
	p := startProxy(t, haproxyConfig, a.addr)
	a.waits.Store(true)
	var sending sync.WaitGroup
	sending.Go(func() {
		if resp := p.do(t, http.MethodGet, "/api/v1"); resp.Status != http.StatusOK {
			t.Errorf("a request in progress: %d %s", resp.Status, resp.Body)
		}
	})
	must.NoError(t, programtest.Eventually(t.Context(), func(context.Context) error {
		if a.requests.Load() == 0 {
			return errors.New("the node got no request")
		}
		return nil
	}))
	a.away.Store(true)
	_, err := p.WaitForOutput(t.Context(), "node1 is (stopping|DOWN)")
	must.NoError(t, err)
	a.release()
	sending.Wait()
}

// TestHAProxy_notSent checks that a request that did not reach a node is sent to another one, even
// a creation.
func TestHAProxy_notSent(t *testing.T) {
	t.Parallel()
	checked := make(chan struct{})
	once := sync.OnceFunc(func() { close(checked) })
	gone := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { once() }))
	b := newNode(t, "b")
	p := startProxy(t, haproxyConfig, gone.Listener.Addr().String(), b.addr)
	<-checked
	gone.Close() // right after a check, so that the proxy considers it available until two checks failed
	for i := range 4 {
		if resp := p.do(t, http.MethodPost, "/plants"); resp.Status != http.StatusOK {
			t.Fatalf("creation %d: %d %s", i, resp.Status, resp.Body)
		}
	}
	if n := b.requests.Load(); n != 4 {
		t.Errorf("the other node got %d creations; want 4", n)
	}
}

func TestHAProxy_headers(t *testing.T) {
	t.Parallel()
	n := newNode(t, "a")
	p := startProxy(t, haproxyConfig, n.addr)
	for _, c := range []struct {
		name    string
		headers []string
		id      string // empty means any except those that were sent
	}{
		{"none", nil, ""},
		{"sane id", []string{"X-Request-Id", "abc-1.2_~"}, "abc-1.2_~"},
		{"id with spaces", []string{"X-Request-Id", "a b"}, ""},
		{"two ids", []string{"X-Request-Id", "abc", "X-Request-Id", "def"}, ""},
		{"claimed address", []string{"X-Forwarded-For", "192.0.2.1", "X-Forwarded-Proto", "gopher"}, ""},
	} {
		resp := p.do(t, http.MethodGet, "/", c.headers...)
		seen := *n.last.Load()
		if got := seen.Values("X-Forwarded-For"); !cmp.Equal(got, []string{"127.0.0.1"}) {
			t.Errorf("%s: X-Forwarded-For is %q; want the address of the client alone", c.name, got)
		}
		if got := seen.Values("X-Forwarded-Proto"); !cmp.Equal(got, []string{"http"}) {
			t.Errorf("%s: X-Forwarded-Proto is %q", c.name, got)
		}
		ids, returned := seen.Values("X-Request-Id"), resp.Header.Get("X-Request-Id")
		fresh := !strings.Contains(strings.Join(c.headers, " "), returned)
		if len(ids) != 1 || ids[0] != returned || c.id != "" && returned != c.id || c.id == "" && !fresh {
			t.Errorf("%s: the node got the ids %q, the client %q; want %q", c.name, ids, returned, c.id)
		}
	}
}

// TestHAProxy_log checks that the log has one JSON object per line, with the request ID that the
// client got and without the query.
func TestHAProxy_log(t *testing.T) {
	t.Parallel()
	n := newNode(t, "a")
	p := startProxy(t, haproxyConfig, n.addr)
	p.do(t, http.MethodGet, `/api/v1/%22quoted%22?api_key=herb_secret`, "X-Request-Id", "the-id-of-it")
	line, err := p.WaitForOutput(t.Context(), `(\{"client".*)\n`) // it is written after the response
	must.NoError(t, err)
	var got map[string]any
	if err := json.Unmarshal([]byte(line), &got); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	for _, measured := range []string{"ms", "bytes", "ended"} {
		delete(got, measured)
	}
	want := map[string]any{
		"client": "127.0.0.1", "method": "GET", "path": "/api/v1/%22quoted%22", "status": 200.0, "node": "node1",
		"retries": "0", "request_id": "the-id-of-it",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestHAProxy_byDataset tests the lines of docs/growing.md that replace `balance leastconn`.
func TestHAProxy_byDataset(t *testing.T) {
	t.Parallel()
	_, rest, _ := strings.Cut(read(t, "../docs/growing.md"), "```haproxy\n")
	instead, _, ok := strings.Cut(rest, "```")
	text := strings.Replace(read(t, haproxyConfig), "    balance leastconn\n", instead, 1)
	if !ok || !strings.Contains(text, instead) {
		t.Fatal("docs/growing.md has no replacement for `balance leastconn`, or haproxy.cfg does not contain it")
	}
	// How many requests go to other nodes depends on the current load, so the limit is left out
	// here.
	placed := regexp.MustCompile(`(?m)^ *hash-balance-factor .*\n`).ReplaceAllString(text, "")
	config := filepath.Join(t.TempDir(), "haproxy.cfg")
	must.NoError(t, os.WriteFile(config, []byte(placed), 0o600))
	whole := filepath.Join(t.TempDir(), "haproxy.cfg")
	must.NoError(t, os.WriteFile(whole, []byte(text), 0o600))
	check := exec.CommandContext(t.Context(), programtest.LookPath(t, "haproxy"), "-c", "-f", whole)
	check.Env = []string{"BIND=127.0.0.1:8080", "NODE1=127.0.0.1:8081"}
	if out, err := check.CombinedOutput(); err != nil || bytes.Contains(out, []byte("[WARNING]")) {
		t.Errorf("haproxy -c: %v\n%s", err, out)
	}
	p := startProxy(t, config, newNode(t, "a").addr, newNode(t, "b").addr, newNode(t, "c").addr)
	const datasets = 60
	share := map[string]int{}
	for i := range datasets {
		dataset := fmt.Sprintf("/api/v1/shop/prices-%d", i)
		first := p.do(t, http.MethodGet, dataset).Body
		share[first]++
		for _, path := range []string{"/data", "/data?page=2&sort=price", ""} {
			if body := p.do(t, http.MethodGet, dataset+path).Body; body != first {
				t.Errorf("%s is answered by %s, %s%s by %s", dataset, first, dataset, path, body)
			}
		}
	}
	for node, n := range share {
		if len(share) != 3 || n < datasets/10 {
			t.Errorf("%d of %d datasets are on %s: %v", n, datasets, node, share)
		}
	}
}
