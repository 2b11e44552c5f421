//go:build unix

package overload

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"time"

	"herbarium/internal/programtest"
)

// Addresses of this machine from which clients send: the server shares its lanes between them.
// Systems other than Linux have only the first one, unless it is configured.
const (
	measuredAddr = "127.0.0.1" // cheap listings and writes
	greedyAddr   = "127.0.0.2" // everything that overloads the server
	honestAddr   = "127.0.0.3" // one request of each lane at a time
)

// setClients creates the clients.
func (s *soak) setClients() {
	s.separate = true
	for _, addr := range []string{greedyAddr, honestAddr} {
		l, err := net.Listen("tcp", addr+":0")
		if err != nil {
			s.separate = false
			continue
		}
		l.Close()
	}
	s.client, s.greedy, s.honest = s.newClient(measuredAddr), s.newClient(greedyAddr), s.newClient(honestAddr)
}

func (s *soak) newClient(addr string) *http.Client {
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 1024,
		DialContext: s.dialer(addr).DialContext}}
}

// dialer returns a dialer of connections from an address, if the machine has it.
func (s *soak) dialer(addr string) *net.Dialer {
	if !s.separate {
		return &net.Dialer{}
	}
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(addr)}}
}

// dial opens a connection of the greedy client, with a small buffer, and sends bytes on it.
func (s *soak) dial(ctx context.Context, send string) (net.Conn, error) {
	conn, err := s.dialer(greedyAddr).DialContext(ctx, "tcp", s.server.Addr())
	if err != nil {
		return nil, err
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		err = tcp.SetReadBuffer(16 << 10)
	}
	if err == nil {
		_, err = io.WriteString(conn, send)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// get sends a GET and reads the response.
func (s *soak) get(ctx context.Context, client *http.Client, target string) (status int, err error) {
	_, status, err = s.request(ctx, client, http.MethodGet, target, "")
	return status, err
}

// request sends a request and reads the response. A request with a body has the token.
func (s *soak) request(ctx context.Context, client *http.Client, method, path, body string,
	headers ...string) (_ string, status int, err error) {
	if body != "" {
		headers = append(headers, "Authorization", "Bearer "+token, "Content-Type", "application/json")
	}
	resp, err := programtest.Send(ctx, client, method, s.server.URL+path, body, headers...)
	return resp.Body, resp.Status, err
}

// findAsset returns the path of a static file, which has a fingerprint.
func (s *soak) findAsset(ctx context.Context, name string) (string, error) {
	page, _, err := s.request(ctx, s.client, http.MethodGet, "/docs", "")
	if err != nil {
		return "", err
	}
	path := regexp.MustCompile(`/assets/[^"]*/` + regexp.QuoteMeta(name)).FindString(page)
	if path == "" {
		return "", fmt.Errorf("/docs does not refer to %s:\n%s", name, page)
	}
	return path, nil
}
