//go:build linux

package hostiletest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/procfs"
)

// memory is the memory limit of the servers whose memory is measured.
const memory = 256 << 20

// startLimited starts a server with a memory limit and what was published to a data folder.
func startLimited(t *testing.T, data string) *node {
	t.Helper()
	n := start(t, config{data: data, settings: []string{fmt.Sprintf("HERBARIUM_MEMORY=%dMiB", memory>>20)}})
	n.expect(http.StatusOK, "/api/v1")
	return n
}

// privateMemory returns the bytes of memory that the server does not share with the page cache.
func (n *node) privateMemory() (bytes uint64) {
	n.t.Helper()
	p, err := procfs.NewProc(n.PID())
	must(n.t, err)
	s, err := p.NewStatus()
	must(n.t, err)
	return s.RssAnon
}

// attack sends requests, each over a connection of its own, and reads no more than the first byte of each response. It returns
// how many were accepted, and fails if the private memory of the server exceeds its limit meanwhile.
func (n *node) attack(t *testing.T, clients int, request func(i int) string) (accepted int) {
	t.Helper()
	const atOnce = 30
	var wg sync.WaitGroup
	var mu sync.Mutex
	var most uint64
	slots := make(chan struct{}, atOnce)
	for i := range clients {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			status := make([]byte, len("HTTP/1.1 200"))
			conn, err := n.dialSlowly(request(i))
			if err == nil {
				_, err = io.ReadFull(conn, status) // the server may have closed the connection
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil && string(status) == "HTTP/1.1 200" {
				accepted++
			}
			most = max(most, n.privateMemory())
		})
	}
	wg.Wait()
	most = max(most, n.privateMemory())
	t.Logf("%d of %d responses begun, %d MiB", accepted, clients, most>>20)
	if most > memory {
		t.Errorf("the server has %d MiB of private memory; its limit is %d", most>>20, memory>>20)
	}
	return accepted
}

// dialSlowly opens a connection that receives little unless it is read, and sends bytes on it.
func (n *node) dialSlowly(send string) (net.Conn, error) {
	conn, err := n.dial("")
	if err != nil {
		return nil, err
	}
	if err := conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		return nil, err
	}
	_, err = io.WriteString(conn, send)
	return conn, err
}

// get returns a raw request for a path.
func get(path string, headers ...string) func(int) string {
	return func(int) string {
		return "GET " + path + " HTTP/1.1\r\nHost: x\r\n" + strings.Join(append(headers, ""), "\r\n") + "\r\n"
	}
}

// expectService expects that the server serves other clients. A request may be rejected while memory is short, but not for long.
func (n *node) expectService(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range append(paths, "/readyz", "/") {
		eventually(t, "other clients are served", func(context.Context) error {
			r, err := n.request(http.MethodGet, path, "")
			if err == nil && r.Status != http.StatusOK {
				err = fmt.Errorf("GET %s: status %d: %s", path, r.Status, r.Body)
			}
			return err
		})
	}
}

// TestSlowReaders_largeRecords requests pages of records of a megabyte, and does not read them.
func TestSlowReaders_largeRecords(t *testing.T) {
	t.Parallel()
	const records, size, clients = 60, 1 << 20, 30
	var rows strings.Builder
	rows.WriteString("id,shape,name\n")
	for i := range records {
		fmt.Fprintf(&rows, "%d,%d %s,n%d\n", i, i, strings.Repeat("x", size), i)
	}
	dir := t.TempDir()
	data := dir + "/data"
	publish(t, data, write(t, rows.String(), dir, "garden", "shapes.csv"))
	const dataset = "/garden/shapes"
	for _, tt := range []struct{ name, path string }{
		{"all fields", "/api/v1" + dataset + "/data?per_page=100"},
		{"some fields", "/api/v1" + dataset + "/data?per_page=100&_fields=shape,id"},
		{"export", "/api/v1" + dataset + "/data.csv?_fields=shape,id"},
		{"XLSX", "/api/v1" + dataset + "/data.xlsx?_fields=id,name"},
		{"facets", "/api/v1" + dataset + "/facets?field=shape&top=100"},
		{"table", "/datasets" + dataset + "?per_page=100"},
		{"table with a search", "/datasets" + dataset + "?per_page=100&search=x*"},
		{"record", "/datasets" + dataset + "?per_page=100&_record=2"},
		{"filter", "/datasets" + dataset + "/facets?_facet=shape"},
		{"about", "/datasets" + dataset + "/about"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := startLimited(t, data)
			for _, encoding := range []string{"identity", "gzip", "zstd"} {
				if n.attack(t, clients/3, get(tt.path, "Accept-Encoding: "+encoding)) == 0 {
					t.Errorf("no response with encoding %s has begun", encoding)
				}
			}
			n.expectService(t, "/api/v1"+dataset+"/data?per_page=1&_fields=id")
		})
	}
}
