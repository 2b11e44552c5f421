package postgres_test

import (
	"bytes"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// proxy forwards connections between a store and the server, and interferes with the first commit.
type proxy struct {
	server string // socket
	mode   proxyMode
	once   sync.Once
	losses atomic.Int64 // calls of lose
}

// lose stops forwarding on all current connections without closing them, as if a firewall dropped
// their packets. New ones work.
func (p *proxy) lose() { p.losses.Add(1) }

// proxyMode is what the proxy does with the first commit.
type proxyMode int

const (
	cutBefore proxyMode = iota // the server does not receive it
	cutAfter                   // the server executes it, but the response is lost
	silence                    // from then on, nothing is forwarded and nothing is closed
	none
)

// interfere returns the address of a database through a proxy, which is stopped when the test ends
// or earlier. The schema must have been migrated before, so that the first commit is that of the
// test.
func interfere(t *testing.T, address string, mode proxyMode) (through string, stop func()) {
	t.Helper()
	_, through, stop = startProxy(t, address, mode)
	return through, stop
}

// startProxy is interfere, and returns the proxy as well.
func startProxy(t *testing.T, address string, mode proxyMode) (p *proxy, through string, stop func()) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	folder, err := os.MkdirTemp("", "proxy") // the path of t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	const socket = ".s.PGSQL.5432"
	p = &proxy{server: filepath.Join(query.Get("host"), socket), mode: mode}
	l, err := net.Listen("unix", filepath.Join(folder, socket))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { p.serve(t, client, done) })
		}
	})
	stop = sync.OnceFunc(func() {
		close(done)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	query.Set("host", folder)
	query.Set("default_query_exec_mode", "exec") // sends COMMIT as text, not as a prepared statement
	u.RawQuery = query.Encode()
	return p, u.String(), stop
}

// serve forwards data between client and server until one of them closes the connection or done is
// closed.
func (p *proxy) serve(t *testing.T, client net.Conn, done <-chan struct{}) {
	server, err := net.Dial("unix", p.server)
	if err != nil {
		t.Error(err)
		_ = client.Close()
		return
	}
	var wg sync.WaitGroup
	var interfering atomic.Bool // before a commit, the client has received all other responses
	losses := p.losses.Load()
	lost := func() bool { return p.losses.Load() != losses }
	ended := make(chan struct{})
	end := sync.OnceFunc(func() {
		close(ended)
		_ = client.Close()
		_ = server.Close()
	})
	defer wg.Wait()
	defer end()
	wg.Go(func() {
		defer end()
		pass(server, client, func([]byte) bool { return !interfering.Load() && !lost() })
		if lost() {
			<-ended
		}
	})
	wg.Go(func() {
		pass(client, server, func(sent []byte) bool {
			// commits itself
			if bytes.Contains(sent, []byte("commit\x00")) || bytes.Contains(sent, []byte("INSERT INTO plants")) {
				p.once.Do(func() { interfering.Store(p.mode != none) })
			}
			return !lost() && (!interfering.Load() || p.mode == cutAfter)
		})
		if lost() || interfering.Load() && p.mode == silence {
			<-ended
		}
		end()
	})
	select {
	case <-done:
	case <-ended:
	}
}

// pass forwards data in one direction until the connection ends or data must not be forwarded.
func pass(from, to net.Conn, on func(sent []byte) bool) {
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		if err != nil || !on(b[:n]) {
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}
