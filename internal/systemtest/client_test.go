//go:build linux

package systemtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"herbarium/internal/programtest"
)

// requestTimeout limits every request. It is far longer than any request takes, for busy machines.
const requestTimeout = time.Minute

// request sends a request over a connection of its own.
func (n *node) request(method, path, body string, header ...string) (programtest.Response, error) {
	return n.requestFrom(honest, method, path, body, header...)
}

// Addresses of clients.
const (
	honest = "127.0.0.1"
	greedy = "127.0.0.2"
)

// requestFrom is request from an address of this machine.
func (n *node) requestFrom(addr, method, path, body string, header ...string) (programtest.Response, error) {
	client := &http.Client{
		Timeout:       requestTimeout,
		Transport:     &http.Transport{DisableKeepAlives: true, DialContext: dialerFrom(addr).DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return programtest.Send(n.t.Context(), client, method, n.URL+path, body, header...)
}

// expect sends a GET and expects a status.
func (n *node) expect(status int, path string, header ...string) programtest.Response {
	n.t.Helper()
	r, err := n.request(http.MethodGet, path, "", header...)
	if err != nil {
		n.t.Errorf("GET %s: %v", path, err)
	} else if r.Status != status {
		n.t.Errorf("GET %s: status %d, want %d: %s", path, r.Status, status, r.Body)
	}
	return r
}

// listRepeatedly expects a listing to succeed every time, each over a new connection.
func (n *node) listRepeatedly(path string) {
	n.t.Helper()
	for range 50 {
		n.expect(http.StatusOK, path)
		if n.t.Failed() {
			return
		}
	}
}

// plant creates a plant.
func (n *node) plant(id int) (programtest.Response, error) {
	return n.request(http.MethodPost, "/plants", fmt.Sprintf(`{"id":%d,"name":"Rose s%d t%d b%d"}`, id, id, id, id),
		"Authorization", "Bearer "+token, "Content-Type", "application/json")
}

// dialerFrom returns a dialer of connections from an address.
func dialerFrom(addr string) *net.Dialer {
	return &net.Dialer{Timeout: requestTimeout, LocalAddr: &net.TCPAddr{IP: net.ParseIP(addr)}}
}

// dial opens a connection and sends bytes on it. It is closed when the test ends.
func (n *node) dial(send string) (net.Conn, error) { return n.dialFrom(honest, send) }

// dialFrom is dial from an address of this machine.
func (n *node) dialFrom(addr, send string) (net.Conn, error) {
	conn, err := dialerFrom(addr).DialContext(n.t.Context(), "tcp", strings.TrimPrefix(n.URL, "http://"))
	if err != nil {
		return nil, err
	}
	n.t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(requestTimeout)); err != nil {
		return nil, err
	}
	_, err = io.WriteString(conn, send)
	return conn, err
}

// metric returns the value of a metric, which must exist.
func (n *node) metric(name string) float64 {
	n.t.Helper()
	m, err := n.Metrics(n.t.Context())
	if err != nil {
		n.t.Fatal(err)
	}
	v, ok := m[name]
	if !ok {
		n.t.Fatalf("there is no metric %s", name)
	}
	return v
}

// waitForConnections waits until the server has accepted at least n connections that are open.
func (n *node) waitForConnections(t *testing.T, connections float64) {
	t.Helper()
	eventually(t, "connections are accepted", func(context.Context) error {
		if open := n.metric("process_open_fds"); open < connections {
			return fmt.Errorf("%v descriptors are open; want %v", open, connections)
		}
		return nil
	})
}

// waitUntilIdle waits until the server runs about as many goroutines as before.
func (n *node) waitUntilIdle(t *testing.T, before float64) {
	t.Helper()
	eventually(t, "the server is idle again", func(context.Context) error {
		if now := n.metric("go_goroutines"); now > before+10 {
			return fmt.Errorf("%v goroutines run; before there were %v", now, before)
		}
		return nil
	})
}

// client is the HTTP client of all tests. Its timeout is longer than any response may take.
var client = &http.Client{Timeout: 70 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// get sends a GET request with headers, given as names and values, and fails unless the status is
// 200.
func get(ctx context.Context, url string, headers ...string) (programtest.Response, error) {
	a, err := programtest.Send(ctx, client, http.MethodGet, url, "", headers...)
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("GET %s: %d %s", url, a.Status, a.Body)
	}
	return a, err
}

// post creates a plant.
func post(ctx context.Context, base, key, plant string, headers ...string) (programtest.Response, error) {
	headers = append(headers, "Authorization", "Bearer "+key, "Content-Type", "application/json")
	return programtest.Send(ctx, client, http.MethodPost, base+"/plants", plant, headers...)
}

// page is a listing.
type page struct {
	Data []map[string]string
	Meta struct{ Total int }
}

// list requests a page of a dataset; base is the URL of a node or of the proxy.
func list(ctx context.Context, base, dataset, query string) (p page, err error) {
	a, err := get(ctx, base+"/api/v1/"+dataset+"/data?"+query)
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal([]byte(a.Body), &p)
}
