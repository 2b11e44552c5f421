package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"herbarium/internal/app"
	"herbarium/internal/cli"
	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// total returns the total of a listing.
func (s *server) total(t *testing.T, path string, headers ...string) int {
	t.Helper()
	status, body := s.get(t, path, headers...)
	var listing struct{ Meta struct{ Total int } }
	if err := json.Unmarshal([]byte(body), &listing); status != http.StatusOK || err != nil {
		t.Fatalf("GET %s: %d %s (%v)", path, status, body, err)
	}
	return listing.Meta.Total
}

func TestServe(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.serve(t, garden, filepath.Dir(write(t, "photo.png", "\x89PNG")))
	if n := s.total(t, "/api/v1/garden/catalog/data?status=published&search=lavender"); n == 0 {
		t.Error("no lavender in the garden")
	}
	for _, want := range []string{"Pages    " + s.url + "/\n", "API      " + s.url + "/api/v1\n",
		"Docs     " + s.url + "/docs",
		"Skipped files\n  ", "photo.png", e["HERBARIUM_DATA"], "curl '" + s.url + "/api/v1/garden/catalog/data'",
		"/api/v1/store/plants/data", "/openapi.json",
		"TOKEN=$(herbarium keys create --name me --scope plants:write"} {
		if !strings.Contains(s.out.String(), want) {
			t.Errorf("the banner does not contain %s:\n%s", want, s.out)
		}
	}
	if last := "\nOpen " + s.url + "/\n"; !strings.HasSuffix(s.out.String(), last) {
		t.Errorf("the last line is not %q:\n%s", last, s.out)
	}
	if !strings.Contains(s.log.String(), "created data folder") {
		t.Errorf("the log does not say that the data folder was created:\n%s", s.log)
	}
	for _, path := range []string{"/", "/healthz", "/readyz", "/api/v1", "/api/v1/garden/catalog", "/openapi.json"} {
		if status, body := s.get(t, path); status != http.StatusOK {
			t.Errorf("GET %s: %d %s", path, status, body)
		}
	}
}

// cancelingWriter cancels a context when something is written.
type cancelingWriter struct {
	programtest.Buffer
	cancel context.CancelCauseFunc
}

func (w *cancelingWriter) Write(p []byte) (int, error) {
	w.cancel(errors.New("terminated signal received"))
	return w.Buffer.Write(p)
}

// TestServe_stoppedDuringStart sends a signal before the command starts, and after the data folder
// is created.
func TestServe_stoppedDuringStart(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{true, false} {
		ctx, cancel := context.WithCancelCause(t.Context())
		log := &cancelingWriter{cancel: cancel}
		if before {
			cancel(nil)
		}
		code := cli.Run(ctx, []string{"serve", garden},
			cli.Terminal{Out: io.Discard, Err: log, Env: newEnvironment(t).lookup})
		if code != 0 || strings.Contains(log.String(), "herbarium: ") {
			t.Errorf("exit code %d\n%s", code, log)
		}
	}
}

func TestServe_unchangedFiles(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.serve(t, garden).stop()
	first := e.must(t, "datasets", "history", "garden/catalog")
	e.serve(t, garden).stop()
	if second := e.must(t, "datasets", "history", "garden/catalog"); second != first {
		t.Errorf("history was\n%s\nand is\n%s", first, second)
	}
}

func TestServe_invalidFile(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	bad := write(t, "shop/bad.csv", "a,b\n1,2,3\n")
	must.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(bad), "good.csv"), []byte("a,b\n1,2\n"), 0o600))
	s := e.serve(t, filepath.Dir(bad))
	if n := s.total(t, "/api/v1/shop/good/data"); n != 1 {
		t.Errorf("the good file has %d records; want 1", n)
	}
	if status, _ := s.get(t, "/api/v1/shop/bad/data"); status != http.StatusNotFound {
		t.Errorf("the bad file is answered with %d; want 404", status)
	}
	if !strings.Contains(s.log.String(), "line 2") {
		t.Errorf("the log does not name the line:\n%s", s.log)
	}
}

func TestServe_addressTaken(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.serve(t)
	code, _, errOut := newEnvironment(t).run(t, "serve", "--addr", strings.TrimPrefix(s.url, "http://"))
	if code != 1 || !strings.Contains(errOut, "cannot listen on") {
		t.Errorf("exit code %d, want 1 and a word about the address:\n%s", code, errOut)
	}
}

func TestKeys_onRunningServer(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.serve(t)
	code, out, errOut := e.run(t, "keys", "create", "--name", "nursery", "--scope", "plants:write", "--expires", "90d")
	token := strings.TrimSuffix(out, "\n")
	if code != 0 || strings.ContainsAny(token, " \n") || strings.Contains(errOut, token) {
		t.Fatalf("exit code %d; standard output %q must be the secret alone, and standard error must not have it:\n%s",
			code, out, errOut)
	}
	if status, body := s.create(t, token, `{"id":1,"name":"Rose"}`); status != http.StatusOK {
		t.Fatalf("a new key does not work at once: %d %s", status, body)
	}
	if list := e.must(t, "keys", "list"); !strings.Contains(list, "nursery") || !strings.Contains(list, "active") ||
		strings.Contains(list, token) {
		t.Errorf("keys list says\n%s", list)
	}
	e.must(t, "keys", "revoke", "nursery")
	if status, body := s.create(t, token, `{"id":2,"name":"Rose"}`); status != http.StatusUnauthorized {
		t.Errorf("a revoked key gives %d %s", status, body)
	}
	if list := e.must(t, "keys", "list", "--json"); !strings.Contains(list, `"status":"revoked"`) {
		t.Errorf("keys list --json says\n%s", list)
	}
	e.fails(t, 1, "keys list", "keys", "revoke", "nobody")
}

func TestPublish_onRunningServer(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.serve(t)
	file := write(t, "prices.csv", "code,price\n007,1.50\n008,2\n")
	const path = "/api/v1/shop/prices/data"
	if out := e.must(t, "publish", file, "--as", "shop/prices"); !strings.Contains(out, "2 records") ||
		!strings.Contains(out, "code text") {
		t.Errorf("publish says\n%s", out)
	}
	if status, body := s.get(t, path+"?code=007"); status != http.StatusOK ||
		!strings.Contains(body, `{"code":"007","price":"1.50"}`) {
		t.Fatalf("not listed at once, or not byte for byte: %d %s", status, body)
	}
	e.prints(t, "unchanged", "publish", file, "--as", "shop/prices")
	must.NoError(t, os.WriteFile(file, []byte("code,price\n007,1.75\n"), 0o600))
	e.must(t, "publish", file, "--as", "shop/prices")
	if n := s.total(t, path); n != 1 {
		t.Errorf("%d records right after the second publish; want 1", n)
	}
	e.must(t, "datasets", "rollback", "shop/prices")
	if n := s.total(t, path); n != 2 {
		t.Errorf("%d records after the rollback; want 2", n)
	}
	must.NoError(t, os.WriteFile(file, []byte("code,price\n1,2,3\n"), 0o600))
	e.fails(t, 1, "line 2", "publish", file, "--as", "shop/prices")
	if n := s.total(t, path); n != 2 {
		t.Errorf("%d records after a publish that failed; want 2", n)
	}
	if out := e.must(t, "datasets"); !strings.Contains(out, "shop/prices") || !strings.Contains(out, "store/plants") {
		t.Errorf("datasets says\n%s", out)
	}
	e.prints(t, "number", "datasets", "show", "shop/prices")
	e.must(t, "datasets", "remove", "shop/prices", "--yes")
	if status, _ := s.get(t, path); status != http.StatusNotFound {
		t.Errorf("a dataset that was removed is answered with %d; want 404", status)
	}
	if code, _, errOut := e.run(t, "publish", file, "--as", "store/plants"); code == 0 ||
		!strings.Contains(errOut, "store/plants") {
		t.Errorf("publishing over the plants: exit code %d\n%s", code, errOut)
	}
}

// TestInvalidKeys_limited checks that an address that sends invalid keys gets 429 by API and form,
// and that a valid key from the same address still works.
func TestInvalidKeys_limited(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.serve(t)
	e.must(t, "publish", write(t, "a.csv", "x\n1\n"), "--as", "shop/secret", "--access", "key")
	const path = "/api/v1/shop/secret/data"
	resp := s.do(t, http.MethodGet, path, "", "X-API-Key", "wrong")
	for i := 0; i < 1000 && resp.Status == http.StatusUnauthorized; i++ {
		resp = s.do(t, http.MethodGet, path, "", "X-API-Key", "wrong")
	}
	if resp.Status != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" {
		t.Errorf("after many invalid keys: %d %v", resp.Status, resp.Header)
	}
	key := strings.TrimSpace(e.must(t, "keys", "create", "--name", "reader", "--scope", "data:read:shop/*"))
	if status, body := s.get(t, path, "X-API-Key", key); status != 200 {
		t.Errorf("a new, valid key: %d %s", status, body)
	}
}

func TestAccessKey(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e["HERBARIUM_TOKEN"] = "token-of-the-environment-0123456789abcdef"
	s := e.serve(t)
	e.must(t, "publish", write(t, "a.csv", "x\n1\n"), "--as", "shop/secret", "--access", "key")
	key := strings.TrimSpace(e.must(t, "keys", "create", "--name", "reader", "--scope", "data:read:shop/*"))
	other := strings.TrimSpace(e.must(t, "keys", "create", "--name", "other", "--scope", "data:read:shop/prices"))
	const path = "/api/v1/shop/secret/data"
	cases := []struct {
		name, path, header, value string
		want                      int
	}{
		{"no key", path, "Accept", "*/*", 401},
		{"X-API-Key", path, "X-API-Key", key, 200},
		{"Authorization", path, "Authorization", "Bearer " + key, 200},
		{"api_key", path + "?api_key=" + key, "Accept", "*/*", 200},
		{"token of the environment", path, "X-API-Key", e["HERBARIUM_TOKEN"], 200},
		{"another scope", path, "X-API-Key", other, 403},
		{"mistyped", path, "X-API-Key", key[:len(key)-1] + "x", 401},
		{"header before address", path + "?api_key=" + key, "X-API-Key", "wrong", 401},
		{"open dataset, wrong key", "/api/v1/store/plants/data", "X-API-Key", "wrong", 200},
	}
	for _, c := range cases {
		if status, body := s.get(t, c.path, c.header, c.value); status != c.want {
			t.Errorf("%s: %d %s; want %d", c.name, status, body, c.want)
		}
	}
}

// TestRestart creates plants, restarts, and looks for the secrets in everything that was written.
func TestRestart(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e["HERBARIUM_TOKEN"] = "token-of-the-environment-0123456789abcdef"
	s := e.serve(t, garden)
	token := strings.TrimSpace(e.must(t, "keys", "create", "--name", "writer", "--scope", "plants:write"))
	send := func(s *server, token, body string) (int, string, string) {
		r := s.do(t, http.MethodPost, "/plants", body, "Authorization", "Bearer "+token,
			"Content-Type", "application/json", "Idempotency-Key", "once")
		return r.Status, r.Body, r.Header.Get("Idempotency-Replayed")
	}
	const rose = `{"id":9007199254740993,"name":"Röse","tag":"a"}`
	for _, secret := range []string{token, e["HERBARIUM_TOKEN"]} {
		s.get(t, "/api/v1/garden/catalog/data?api_key="+secret)
		s.get(t, "/api/v1/garden/catalog/data?api%5Fkey="+secret+"&apikey="+secret)
		s.get(t, "/nowhere", "Authorization", "Bearer "+secret, "X-API-Key", secret)
	}
	s.get(t, "/"+token)
	if status, body, replayed := send(s, token, rose); status != http.StatusOK || body != `{"name":"Röse","tag":"a"}` ||
		replayed != "" {
		t.Fatalf("creating: %d %s, replayed %q", status, body, replayed)
	}
	s.stop()
	again := e.serve(t)
	if status, body, replayed := send(again, token, rose); status != http.StatusOK || replayed != "true" {
		t.Errorf("the same request after a restart: %d %s, replayed %q", status, body, replayed)
	}
	if status, body, _ := send(again, token, `{"id":2,"name":"other"}`); status != http.StatusBadRequest {
		t.Errorf("the same key with another body: %d %s", status, body)
	}
	if status, body := again.get(t, "/api/v1/store/plants/data?id=9007199254740993"); status != http.StatusOK ||
		!strings.Contains(body, `{"id":"9007199254740993","name":"Röse","tag":"a"}`) {
		t.Errorf("the plant after a restart: %d %s", status, body)
	}
	if n := again.total(t, "/api/v1/garden/catalog/data"); n < 490 {
		t.Errorf("%d records in the garden after a restart", n)
	}
	again.stop()
	written := map[string]string{"log": s.log.String() + again.log.String(), "output": s.out.String() +
		again.out.String()}
	err := filepath.WalkDir(e["HERBARIUM_DATA"], func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		written[path] = string(content)
		return err
	})
	must.NoError(t, err)
	for where, content := range written {
		for _, secret := range []string{token, token[16:], e["HERBARIUM_TOKEN"]} {
			if strings.Contains(content, secret) {
				t.Errorf("%s contains a secret", where)
			}
		}
	}
}

// TestServe_gracefulShutdown stops a server while it reads the body of a creation.
func TestServe_gracefulShutdown(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e["HERBARIUM_TOKEN"] = "token-of-the-environment-0123456789abcdef"
	s := e.serve(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	must.NoError(t, err)
	defer conn.Close()
	const body = `{"id":1,"name":"Rose"}`
	_, err = fmt.Fprintf(conn,
		"POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
			"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n", e["HERBARIUM_TOKEN"], len(body))
	must.NoError(t, err)
	answers := bufio.NewReader(conn)
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("the server does not ask for the body: %q, %v", line, err)
	}
	stopped := make(chan struct{})
	go func() {
		s.stop()
		close(stopped)
	}()
	until(t, "the server stops", func() bool { return strings.Contains(s.log.String(), "stopping") })
	if _, err := io.WriteString(conn, body); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(answers)
	if err != nil || !strings.Contains(string(rest), "200 OK") || !strings.HasSuffix(string(rest), `{"name":"Rose"}`) {
		t.Errorf("a request that was accepted is answered with %q, %v", rest, err)
	}
	<-stopped
	if n := e.serve(t).total(t, "/api/v1/store/plants/data"); n != 1 {
		t.Errorf("%d plants after the restart; want 1", n)
	}
}

// TestServe_shutdownLimit stops a server while a client does not finish its request: after the time
// of shutdown, the server ends without an error.
func TestServe_shutdownLimit(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e["HERBARIUM_TOKEN"], e["HERBARIUM_SHUTDOWN"] = "token-of-the-environment-0123456789abcdef", "10ms"
	s := e.serve(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	must.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn,
		"POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
			"Content-Length: 10\r\nExpect: 100-continue\r\n\r\n", e["HERBARIUM_TOKEN"])
	must.NoError(t, err)
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("the server does not ask for the body: %q, %v", line, err)
	}
	s.stop()
	if !strings.Contains(s.log.String(), "requests aborted; they took longer than shutdown") {
		t.Errorf("the log has no warning: %s", s.log)
	}
}

func TestServe_admin(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e["HERBARIUM_ADMIN_ADDR"] = "127.0.0.1:0"
	s := e.serve(t)
	if status, _ := s.get(t, "/metrics"); status != http.StatusNotFound {
		t.Errorf("metrics on the public address: %d; want 404", status)
	}
	var m []string
	address := regexp.MustCompile(`"url":"(http://[^"]+)/metrics"`)
	until(t, "the address is logged", func() bool { // the log is buffered for a short time
		m = address.FindStringSubmatch(s.log.String())
		return m != nil
	})
	admin := &server{url: m[1]}
	if status, body := admin.get(t, "/metrics"); status != http.StatusOK ||
		!strings.Contains(body, `herbarium_dataset_records{dataset="store/plants"} 0`) ||
		!strings.Contains(body, `http_server_request_duration_seconds_count{method="GET",route="",status="404"} 1`) {
		t.Errorf("metrics: %d\n%s", status, body)
	}
}

// TestServe_rolledBack restarts a server with a file whose version was rolled back. The server does
// not publish the file again until it changes, even to earlier content; the publish command does.
func TestServe_rolledBack(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	one, two, three := "a\n1\n", "a\n1\n2\n", "a\n1\n2\n3\n"
	file := write(t, "shop/prices.csv", one)
	e.must(t, "publish", file)
	rewrite(t, file, two)
	e.must(t, "publish", file)
	e.must(t, "datasets", "rollback", "shop/prices")
	restart := func(want int) {
		t.Helper()
		s := e.serve(t, "--watch", file)
		if n := s.total(t, "/api/v1/shop/prices/data"); n != want {
			t.Errorf("%d records after a restart, want %d\n%s", n, want, s.log)
		}
		s.stop() // all of the log is written
		if kept := strings.Contains(s.log.String(), "rolled back; it is not published again"); kept != (want == 1) {
			t.Errorf("the log says that the version stays rolled back: %t\n%s", kept, s.log)
		}
	}
	restart(1)
	rewrite(t, file, three)
	restart(3)
	rewrite(t, file, two) // older content, but the file has changed
	restart(2)
	e.must(t, "datasets", "rollback", "shop/prices")
	e.must(t, "publish", file)
	restart(2)
}

// managerSocket listens as a service manager does, at a path that is short enough for a socket.
func managerSocket(t *testing.T) (path string, next func() string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "notify")
	must.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path = filepath.Join(dir, "s")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	must.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return path, func() string {
		t.Helper()
		buf := make([]byte, 256)
		must.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
		n, err := conn.Read(buf)
		must.NoError(t, err)
		return string(buf[:n])
	}
}

func TestServe_notifiesServiceManager(t *testing.T) {
	t.Parallel()
	socket, next := managerSocket(t)
	e := newEnvironment(t)
	e[app.NotifyEnv] = socket
	s := e.serve(t)
	if got := next(); got != "READY=1" {
		t.Fatalf("the manager was sent %q; want READY=1", got)
	}
	if status, body := s.get(t, "/readyz"); status != http.StatusOK {
		t.Errorf("READY=1 was sent, but: %d %s", status, body)
	}
	s.stop()
	if got := next(); got != "STOPPING=1" {
		t.Errorf("the manager was sent %q; want STOPPING=1", got)
	}
}

func TestServe_serviceManagerUnreachable(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e[app.NotifyEnv] = filepath.Join(t.TempDir(), "nobody")
	s := e.serve(t)
	if status, body := s.get(t, "/readyz"); status != http.StatusOK {
		t.Errorf("not served: %d %s", status, body)
	}
	s.stop()
	if log := s.log.String(); !strings.Contains(log, "cannot notify service manager") {
		t.Errorf("the log does not report the failed notification:\n%s", log)
	}
}
