package httpapi_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"herbarium/internal/httpapi/connection"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// TestEarlyResponse sends bodies that the server does not read to their end, with clients that send
// everything before they read and with others. All of them read the response.
func TestEarlyResponse(t *testing.T) {
	t.Parallel()
	const size = 50 << 20
	body := bytes.Repeat([]byte("a,b,c\n1,2\n"), size/10)
	for name, tt := range map[string]struct {
		free   uint64 // bytes of the disk
		target string
		key    string
		status int
	}{
		"too large": {1 << 40, pricesPath + "/source", publisher, 413},
		"no space":  {1 << 20, pricesPath + "/source", publisher, 507},
		"no key":    {1 << 40, pricesPath + "/source", "", 401},
		"rollback":  {1 << 40, pricesPath + "/rollback", publisher, 400},
	} {
		p := newPublishing(t, func(o *publishingOptions) {
			o.files.MaxSize = 1 << 20
			if tt.status == 507 {
				o.files.MaxSize = 1 << 30
			}
			o.files.Free = func(string) (uint64, uint64, bool) { return tt.free, 1 << 40, true }
		})
		addr := serveConns(t, p)
		method := "PUT"
		if tt.status == 400 {
			method = "POST"
		}
		length := fmt.Sprintf("Content-Length: %d", size)
		for how, header := range map[string]string{
			"length": length, "chunked": "Transfer-Encoding: chunked",
			"closed":          "Connection: close\r\n" + length,
			"closed, chunked": "Connection: close\r\nTransfer-Encoding: chunked",
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				c, err := net.Dial("tcp", addr)
				must.NoError(t, err)
				defer c.Close()
				sent := append(fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: a\r\nX-API-Key: %s\r\n%s\r\n\r\n", method,
					tt.target, tt.key, header), body...)
				if strings.HasSuffix(header, "chunked") {
					sent = fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: a\r\nX-API-Key: "+
						"%s\r\n%s\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", method, tt.target, tt.key, header, size, body)
				}
				_, err = c.Write(sent)
				must.NoError(t, err)
				res, err := http.ReadResponse(bufio.NewReader(c), nil)
				must.NoError(t, err)
				if message, err := io.ReadAll(res.Body); res.StatusCode != tt.status || err != nil ||
					!bytes.Contains(message, []byte(`"message"`)) {
					t.Errorf("got %d %s, %v", res.StatusCode, message, err)
				}
			})
		}
		t.Run(name+", Go", func(t *testing.T) {
			t.Parallel()
			for _, expect := range []string{"", "100-continue"} {
				r, err := http.NewRequestWithContext(t.Context(), method, "http://"+addr+tt.target,
					bytes.NewReader(body))
				must.NoError(t, err)
				r.Header.Set("X-Api-Key", tt.key)
				r.Header.Set("Expect", expect)
				res, err := http.DefaultClient.Do(r)
				must.NoError(t, err)
				res.Body.Close()
				if res.StatusCode != tt.status {
					t.Errorf("got %d", res.StatusCode)
				}
			}
		})
		t.Run(name+", curl", func(t *testing.T) {
			t.Parallel()
			curl := programtest.LookPath(t, "curl")
			for _, expect := range []string{"Expect:", "Expect: 100-continue"} {
				cmd := exec.CommandContext(t.Context(), curl, "-s", "-X", method, "-T", "-", "-H", expect, "-H",
					"X-API-Key: "+tt.key, "-o", "/dev/null", "-w", "%{http_code}", "http://"+addr+tt.target)
				cmd.Stdin = bytes.NewReader(body)
				out, err := cmd.Output()
				if string(out) != fmt.Sprint(tt.status) {
					t.Errorf("%s: %s, %v", expect, out, err)
				}
			}
		})
	}
}

// serveConns serves a handler with the server and the listener of the program.
func serveConns(t *testing.T, handler http.Handler) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.NoError(t, err)
	server := connection.NewServer(handler, slog.New(slog.DiscardHandler))
	go func() { _ = server.Serve(connection.Listener(l, 0)) }()
	t.Cleanup(func() { _ = server.Close() })
	return l.Addr().String()
}
