//go:build unix

package blobs_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"sync"
	"sync/atomic"
	"testing"
)

// proxy forwards connections to an S3 server and cuts them in the middle of a response.
type proxy struct {
	server string
	after  int64         // bytes of responses that a connection forwards before it is cut
	cuts   atomic.Int64  // remaining cuts; negative after more attempts
	losses atomic.Int64  // calls of lose
	ended  chan struct{} // closed at the end of the test
}

// lose stops forwarding on all current connections without closing them, as if a firewall dropped
// their packets. New ones work.
func (p *proxy) lose() { p.losses.Add(1) }

// lossy is a writer that stops writing, and does not return, once its connection is lost.
type lossy struct {
	io.Writer
	lost func() bool
	end  <-chan struct{}
}

func (l lossy) Write(b []byte) (int, error) {
	if l.lost() {
		<-l.end
	}
	return l.Writer.Write(b)
}

// interpose returns a proxy that ends with the test, and its endpoint. It cuts the first
// connections that return more than a number of bytes.
func interpose(t *testing.T, server string, after, cuts int64) (*proxy, string) {
	t.Helper()
	p := &proxy{server: server, after: after, ended: make(chan struct{})}
	p.cuts.Store(cuts)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", p.server)
			if err != nil {
				t.Error(err)
				_ = client.Close()
				return
			}
			mu.Lock()
			open = append(open, client, server)
			mu.Unlock()
			wg.Go(func() { p.serve(t, client, server) })
		}
	})
	t.Cleanup(func() {
		close(p.ended)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		mu.Lock()
		for _, c := range open {
			_ = c.Close() // most are closed
		}
		mu.Unlock()
		wg.Wait()
	})
	return p, "http://" + l.Addr().String()
}

// serve forwards data between client and server until one of them closes the connection or it must
// be cut.
func (p *proxy) serve(t *testing.T, client, server net.Conn) {
	var wg sync.WaitGroup
	defer wg.Wait()
	end := sync.OnceFunc(func() {
		_ = client.Close()
		_ = server.Close()
	})
	defer end()
	losses := p.losses.Load()
	lost := func() bool { return p.losses.Load() != losses }
	wg.Go(func() {
		defer end()
		_, _ = io.Copy(lossy{server, lost, p.ended}, client) // ends with the connection
	})
	_, err := io.CopyN(client, server, p.after)
	if err != nil {
		if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
			t.Log(err)
		}
		return
	}
	if p.cuts.Add(-1) >= 0 {
		return
	}
	_, _ = io.Copy(client, server) // ends with the connection
}

// intercept returns the endpoint of a proxy that ends with the test. It calls before for each
// request, which may change the request, or respond and return false.
func intercept(t *testing.T, server string, before func(w http.ResponseWriter, r *http.Request) bool) string {
	t.Helper()
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", server
			r.Out.Host = r.In.Host // which is signed
		},
	}
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before(w, r) {
			forward.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(p.Close)
	return p.URL
}
