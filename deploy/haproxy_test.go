//go:build linux

package deploy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const haproxyConfig = "haproxy/haproxy.cfg"

func TestHAProxy_configuration(t *testing.T) {
	t.Parallel()
	haproxy := program(t, "haproxy")
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
	requests atomic.Int64
	last     atomic.Pointer[http.Header]
}

func newNode(t *testing.T, name string) *node {
	t.Helper()
	n := &node{name: name}
	server := httptest.NewServer(n)
	t.Cleanup(server.Close)
	n.addr = server.Listener.Addr().String()
	return n
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/readyz" {
		if n.away.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return
	}
	n.requests.Add(1)
	n.last.Store(&r.Header)
	_, _ = io.Copy(io.Discard, r.Body)
	if n.dies.Load() {
		panic(http.ErrAbortHandler)
	}
	if id := r.Header.Get("X-Request-Id"); id != "" {
		w.Header().Set("X-Request-Id", id)
	}
	_, _ = io.WriteString(w, n.name)
}

// proxy is a HAProxy that runs with the configuration of this folder.
type proxy struct {
	url    string
	client *http.Client
	log    *logBuffer
}

// logBuffer is a buffer that a process writes to while a test reads it.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// startProxy runs HAProxy in front of nodes.
func startProxy(t *testing.T, nodes ...string) *proxy {
	t.Helper()
	return startProxyWith(t, haproxyConfig, nodes...)
}

// startProxyWith runs HAProxy with another configuration. HAProxy inherits an open listener, so that no other process can take
// its port.
func startProxyWith(t *testing.T, config string, nodes ...string) *proxy {
	t.Helper()
	haproxy := program(t, "haproxy")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	inherited, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer inherited.Close()
	cmd := exec.CommandContext(t.Context(), haproxy, "-db", "-f", config)
	cmd.ExtraFiles = []*os.File{inherited}
	cmd.Env = []string{"BIND=fd@3"}
	for i, n := range nodes {
		cmd.Env = append(cmd.Env, "NODE"+string(rune('1'+i))+"="+n)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p := &proxy{
		url:    "http://" + listener.Addr().String(),
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute},
		log:    new(logBuffer),
	}
	cmd.Stdout, cmd.Stderr = p.log, p.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // the test's context has ended it
	return p
}

// do sends a request and returns the response with its body.
func (p *proxy) do(t *testing.T, method, path string, headers ...string) (*http.Response, string) {
	t.Helper()
	var body io.Reader
	if method == http.MethodPost {
		body = strings.NewReader(`{"id":1,"name":"Rose"}`)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, p.url+path, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	resp, err := p.client.Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", method, path, err, p.log)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", method, path, err, p.log)
	}
	return resp, string(content)
}

// until sends requests until the response is the expected one.
func (p *proxy) until(
	t *testing.T, what string, wanted func(resp *http.Response, body string) bool,
) (*http.Response, string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		if resp, body := p.do(t, http.MethodGet, "/"); wanted(resp, body) {
			return resp, body
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s\n%s", what, p.log)
		}
	}
}

func TestHAProxy_health(t *testing.T) {
	t.Parallel()
	a, b := newNode(t, "a"), newNode(t, "b")
	p := startProxy(t, a.addr, b.addr)
	answeredBy := func(n *node) func(*http.Response, string) bool {
		return func(_ *http.Response, body string) bool { return body == n.name }
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
	p.until(t, "a is left out", func(*http.Response, string) bool { return !in(a) })
	if !in(b) {
		t.Error("b gets no requests although a is not ready")
	}

	b.away.Store(true)
	refused := func(resp *http.Response, _ string) bool { return resp.StatusCode != http.StatusOK }
	resp, body := p.until(t, "none is left", refused)
	checkError(t, resp, body, http.StatusServiceUnavailable)
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
func checkError(t *testing.T, resp *http.Response, body string, status int) {
	t.Helper()
	var content struct {
		Error   int    `json:"error"`
		Message string `json:"message"`
	}
	err := json.Unmarshal([]byte(body), &content)
	if err != nil || resp.StatusCode != status || content.Error != status || content.Message == "" {
		t.Errorf("%d %q (%v); want an Error of %d", resp.StatusCode, body, err, status)
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

func TestHAProxy_retries(t *testing.T) {
	t.Parallel()
	const each = 20
	a, b := newNode(t, "a"), newNode(t, "b")
	p := startProxy(t, a.addr, b.addr)
	a.dies.Store(true)
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		for range each {
			if resp, body := p.do(t, method, "/api/v1"); resp.StatusCode != http.StatusOK {
				t.Fatalf("%s is not retried on the other node: %d %s", method, resp.StatusCode, body)
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
		if resp, body := p.do(t, http.MethodPost, "/plants"); resp.StatusCode != http.StatusOK {
			checkError(t, resp, body, http.StatusBadGateway)
			failed++
		}
	}
	got := []int64{a.requests.Load(), b.requests.Load()}
	if want := []int64{int64(failed), int64(each - failed)}; failed == 0 || !cmp.Equal(want, got) {
		t.Errorf("%d of %d creations failed and the nodes got %v; want %v: each is sent once", failed, each, got, want)
	}
}

// TestHAProxy_notSent checks that a request that did not reach a node is sent to another one, even a creation.
func TestHAProxy_notSent(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(nil)
	gone.Close()
	b := newNode(t, "b")
	p := startProxy(t, gone.Listener.Addr().String(), b.addr) // considered available until the first request
	for i := range 10 {
		if resp, body := p.do(t, http.MethodPost, "/plants"); resp.StatusCode != http.StatusOK {
			t.Fatalf("creation %d: %d %s", i, resp.StatusCode, body)
		}
	}
	if n := b.requests.Load(); n != 10 {
		t.Errorf("the other node got %d creations; want 10", n)
	}
}

func TestHAProxy_headers(t *testing.T) {
	t.Parallel()
	n := newNode(t, "a")
	p := startProxy(t, n.addr)
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
		resp, _ := p.do(t, http.MethodGet, "/", c.headers...)
		seen := *n.last.Load()
		if got := seen.Values("X-Forwarded-For"); !cmp.Equal(got, []string{"127.0.0.1"}) {
			t.Errorf("%s: X-Forwarded-For is %q; want the address of the client alone", c.name, got)
		}
		if got := seen.Values("X-Forwarded-Proto"); !cmp.Equal(got, []string{"http"}) {
			t.Errorf("%s: X-Forwarded-Proto is %q", c.name, got)
		}
		ids, told := seen.Values("X-Request-Id"), resp.Header.Get("X-Request-Id")
		fresh := !strings.Contains(strings.Join(c.headers, " "), told)
		if len(ids) != 1 || ids[0] != told || c.id != "" && told != c.id || c.id == "" && !fresh {
			t.Errorf("%s: the node got the ids %q, the client %q; want %q", c.name, ids, told, c.id)
		}
	}
}

// TestHAProxy_log checks that the log has one JSON object per line, with the request ID that the client got and without the
// query.
func TestHAProxy_log(t *testing.T) {
	t.Parallel()
	n := newNode(t, "a")
	p := startProxy(t, n.addr)
	p.do(t, http.MethodGet, `/api/v1/%22quoted%22?api_key=herb_secret`, "X-Request-Id", "the-id-of-it")
	var line string
	for deadline := time.Now().Add(time.Minute); ; { // it is written after the response
		if i := strings.Index(p.log.String(), `{"client"`); i >= 0 && strings.Contains(p.log.String()[i:], "\n") {
			line, _, _ = strings.Cut(p.log.String()[i:], "\n")
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no line in the log:\n%s", p.log)
		}
	}
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
	// How many requests go to other nodes depends on the current load, so the limit is left out here.
	placed := regexp.MustCompile(`(?m)^ *hash-balance-factor .*\n`).ReplaceAllString(text, "")
	config := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(config, []byte(placed), 0o600); err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(whole, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	check := exec.CommandContext(t.Context(), program(t, "haproxy"), "-c", "-f", whole)
	check.Env = []string{"BIND=127.0.0.1:8080", "NODE1=127.0.0.1:8081"}
	if out, err := check.CombinedOutput(); err != nil || bytes.Contains(out, []byte("[WARNING]")) {
		t.Errorf("haproxy -c: %v\n%s", err, out)
	}
	p := startProxyWith(t, config, newNode(t, "a").addr, newNode(t, "b").addr, newNode(t, "c").addr)
	const datasets = 60
	share := map[string]int{}
	for i := range datasets {
		dataset := fmt.Sprintf("/api/v1/shop/prices-%d", i)
		_, first := p.do(t, http.MethodGet, dataset)
		share[first]++
		for _, path := range []string{"/data", "/data?page=2&sort=price", ""} {
			if _, body := p.do(t, http.MethodGet, dataset+path); body != first {
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
