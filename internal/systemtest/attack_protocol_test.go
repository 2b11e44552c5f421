//go:build linux

package systemtest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// TestRawRequests sends requests that no library would.
func TestRawRequests(t *testing.T) {
	t.Parallel()
	file := write(t, "a\n1\n", t.TempDir(), "garden", "open.csv")
	n := start(t, config{args: []string{file}})
	plant := `{"id":1,"name":"Rose"}`
	second := "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	for _, tt := range []struct {
		name    string
		request string
		status  []int // any of them
	}{
		{
			"path of a page that is too long", "GET /datasets/" + strings.Repeat("a", 4200) +
				" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
			[]int{http.StatusNotFound, http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
				http.StatusPermanentRedirect, http.StatusTemporaryRedirect, http.StatusRequestURITooLong},
		},
		{
			"path with a slash too many", "GET /datasets/" + strings.Repeat("a", 4200) +
				"/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
			[]int{http.StatusNotFound, http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
				http.StatusPermanentRedirect, http.StatusTemporaryRedirect, http.StatusRequestURITooLong},
		},
		{
			"length and chunks", fmt.Sprintf(
				"POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
					"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", token, len(plant),
				plant) + second,
			[]int{http.StatusOK, http.StatusBadRequest},
		},
		{
			"length and chunks, with a GET",
			"GET /api/v1/garden/open/data HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: " +
				"chunked\r\n\r\n0\r\n\r\n" + second,
			[]int{http.StatusOK, http.StatusBadRequest},
		},
		{"two lengths", "POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef" +
			second, []int{http.StatusBadRequest}},
		{"space before the colon", "GET / HTTP/1.1\r\nHost : x\r\n\r\n" + second, []int{http.StatusBadRequest}},
		{"no request", strings.Repeat("\x00", 100) + "\r\n\r\n", []int{http.StatusBadRequest}},
		{"endless headers", "GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("a", 1<<20) + "\r\n\r\n",
			[]int{http.StatusRequestHeaderFieldsTooLarge}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answer := firstAnswer(t, n, tt.request)
			if got := strings.Count(answer, "HTTP/1.1 "); got != 1 {
				t.Fatalf("%d answers before the connection was closed; want 1: %.300q", got, answer)
			}
			got, _ := strconv.Atoi(strings.TrimPrefix(answer, "HTTP/1.1 ")[:3])
			for _, want := range tt.status {
				if got == want {
					return
				}
			}
			t.Errorf("status %d; want one of %v: %.300q", got, tt.status, answer)
		})
	}
	n.expect(http.StatusOK, "/api/v1/garden/open/data")
}

// firstAnswer sends a request and returns what the server sends until it closes the connection,
// which may be before it has read the whole request.
func firstAnswer(t *testing.T, n *node, request string) string {
	t.Helper()
	conn, err := n.dial("")
	must.NoError(t, err)
	go func() { _, _ = io.WriteString(conn, request) }() // it fails if the server has closed the connection
	answer, _ := io.ReadAll(conn)                        // likewise
	return string(answer)
}

// TestFailedKeys guesses keys.
func TestFailedKeys(t *testing.T) {
	t.Parallel()
	n := start(t, config{args: []string{writeOpenAndProtected(t)}})
	var limited programtest.Response
	for i := range 2000 {
		r, err := n.request(http.MethodGet, "/api/v1/vault/people/data", "", "X-API-Key", fmt.Sprintf("guess-%d", i))
		must.NoError(t, err)
		if r.Status == http.StatusTooManyRequests {
			limited = r
			break
		}
		if r.Status != http.StatusUnauthorized {
			t.Fatalf("status %d; want %d: %s", r.Status, http.StatusUnauthorized, r.Body)
		}
	}
	if limited.Status == 0 {
		t.Fatal("2000 wrong keys, and none was answered with 429")
	}
	if seconds, err := strconv.Atoi(limited.Header.Get("Retry-After")); err != nil || seconds < 1 {
		t.Errorf("Retry-After is %q; want seconds", limited.Header.Get("Retry-After"))
	}
	n.expect(http.StatusOK, "/api/v1/garden/open/data")
	// Another address is not affected.
	client := &http.Client{Timeout: requestTimeout, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext(ctx, network, addr)
		},
	}}
	resp, err := programtest.Send(t.Context(), client, http.MethodGet, n.URL+"/api/v1/vault/people/data", "",
		"X-API-Key", token)
	if err != nil || resp.Status != http.StatusOK {
		t.Errorf("a valid key from another address: status %d, %v", resp.Status, err)
	}
}

// TestWeakTokens starts servers with tokens that can be guessed.
func TestWeakTokens(t *testing.T) {
	t.Parallel()
	for _, weak := range []string{"a", "password", "12345678", strings.Repeat("a", 40)} {
		t.Run(weak, func(t *testing.T) {
			t.Parallel()
			n, err := tryStart(t, config{settings: []string{"HERBARIUM_TOKEN=" + weak}})
			if err == nil {
				t.Fatalf("the server starts at %s; want an error", n.URL)
			}
			if !strings.Contains(err.Error(), "HERBARIUM_TOKEN") || !strings.Contains(err.Error(), "code 2") {
				t.Errorf("%v; want exit code 2 and the name of the variable", err)
			}
		})
	}
}
