//go:build linux

package systemtest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/procfs"

	"herbarium/internal/must"
)

// memory is the memory limit of the servers whose memory is measured.
const memoryLimit = 256 << 20

// startLimited starts a server with a memory limit and what was published to a data folder.
func startLimited(t *testing.T, data string) *node {
	t.Helper()
	n := start(t, config{data: data, settings: []string{fmt.Sprintf("HERBARIUM_MEMORY=%dMiB", memoryLimit>>20)}})
	n.expect(http.StatusOK, "/api/v1")
	return n
}

// privateMemory returns the bytes of memory that the server does not share with the page cache.
func (n *node) privateMemory() (bytes uint64) {
	n.t.Helper()
	p, err := procfs.NewProc(n.PID())
	must.NoError(n.t, err)
	s, err := p.NewStatus()
	must.NoError(n.t, err)
	return s.RssAnon
}

// attack sends requests, each over a connection of its own, and reads no more than the status of
// each response. It returns how many were accepted, and fails if the private memory of the server
// exceeds its limit meanwhile.
func (n *node) attack(t *testing.T, clients int, request string) (accepted int) {
	t.Helper()
	const atOnce = 30
	var wg sync.WaitGroup
	var mu sync.Mutex
	var most uint64
	var conns []net.Conn
	slots := make(chan struct{}, atOnce)
	for range clients {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			status := make([]byte, len("HTTP/1.1 200"))
			conn, err := n.dialSlowly(request)
			if err == nil {
				_, err = io.ReadFull(conn, status) // the server may have closed the connection
			}
			mu.Lock()
			defer mu.Unlock()
			conns = append(conns, conn)
			if err == nil && string(status) == "HTTP/1.1 200" {
				accepted++
			}
			most = max(most, n.privateMemory())
		})
	}
	wg.Wait()
	most = max(most, n.privateMemory())
	t.Logf("%d of %d responses begun, %d MiB", accepted, clients, most>>20)
	n.expect(http.StatusOK, "/readyz") // while the clients do not read
	for _, conn := range conns {
		if conn != nil {
			conn.Close()
		}
	}
	if most > memoryLimit {
		t.Errorf("the server has %d MiB of private memory; its limit is %d", most>>20, memoryLimit>>20)
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

// rawGet returns a raw request for a path that accepts an encoding.
func rawGet(path, encoding string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: x\r\nAccept-Encoding: " + encoding + "\r\n\r\n"
}

// expectService expects that the server serves other clients. A request may be rejected while
// memory is short, but not for long.
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
	const records, size, clients = 50, 1 << 20, 30
	var rows strings.Builder
	rows.WriteString("id,shape,name\n")
	for i := range records {
		fmt.Fprintf(&rows, "%d,%d %s,n%d\n", i, i, strings.Repeat("x", size), i)
	}
	dir := t.TempDir()
	data := dir + "/data"
	run(t, data, "publish", write(t, rows.String(), dir, "garden", "shapes.csv"))
	n := startLimited(t, data)
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
			for _, encoding := range []string{"identity", "gzip", "zstd"} {
				if n.attack(t, clients/3, rawGet(tt.path, encoding)) == 0 {
					t.Errorf("no response with encoding %s has begun", encoding)
				}
			}
			n.expectService(t, "/api/v1"+dataset+"/data?per_page=1&_fields=id")
		})
	}
}

// TestSlowReaders_buffered requests large responses that are not listings, and does not read them.
func TestSlowReaders_buffered(t *testing.T) {
	t.Parallel()
	const columns, points = 5000, 60_000
	var wide, grid strings.Builder
	for i := range columns {
		fmt.Fprintf(&wide, "column_with_a_long_name_%d,", i)
	}
	wide.WriteString("id\n" + strings.Repeat("1,", columns) + "1\n" + strings.Repeat("x,", columns) + "2\n")
	grid.WriteString("x,y\n")
	for i := range points {
		fmt.Fprintf(&grid, "%d,%d\n", i%256, i/256)
	}
	dir := t.TempDir()
	data := dir + "/data"
	run(t, data, "publish", write(t, wide.String(), dir, "garden", "wide.csv"),
		write(t, grid.String(), dir, "garden", "points.csv"))
	n := startLimited(t, data)
	asset := regexp.MustCompile(`/assets/[0-9a-f]+/swagger-ui-bundle.js`).FindString(n.expect(http.StatusOK,
		"/docs").Body)
	for _, tt := range []struct {
		name, path string
		clients    int
	}{
		{"asset", asset, 300},
		{"grid", "/api/v1/garden/points/grid?_x=x&_y=y&_bounds=0,0,256,256&_columns=256&_rows=256", 300},
		{"description", "/api/v1/garden/wide", 300},
		{"document", "/openapi.json?dataset=garden/wide", 100},
		{"catalogue", "/api/v1", 300},
		{"listing", "/api/v1/garden/wide/data?per_page=100", 300},
		{"table", "/datasets/garden/wide", 60}, // pages take more time
		{"about", "/datasets/garden/wide/about", 60},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if n.attack(t, tt.clients, rawGet(tt.path, "identity")) == 0 {
				t.Error("no response has begun")
			}
			n.expectService(t, "/api/v1/garden/points/data", tt.path)
		})
	}
}

// TestHalfSentBodies sends plants that are as large as allowed, except for the last byte.
func TestHalfSentBodies(t *testing.T) {
	t.Parallel()
	const size, clients = 1 << 20, 600
	n := startLimited(t, "")
	request := fmt.Sprintf("POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: "+
		"application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", token, size, strings.Repeat(" ", size-1))
	var most uint64
	for range clients {
		_, _ = n.dial(request) // the server may reject it before it has received all of it
		most = max(most, n.privateMemory())
	}
	t.Logf("%d MiB", most>>20)
	if most > memoryLimit {
		t.Errorf("the server has %d MiB of private memory; its limit is %d", most>>20, memoryLimit>>20)
	}
	if r, err := n.plant(1); err != nil || r.Status != http.StatusOK {
		t.Errorf("another plant: status %d, %v: %s", r.Status, err, r.Body)
	}
	n.expectService(t)
}

// TestStalledConnections opens more connections than the server has descriptors for, and does not
// read the responses.
func TestStalledConnections(t *testing.T) {
	t.Parallel()
	file := write(t, "a\n1\n", t.TempDir(), "garden", "open.csv")
	n := start(t, config{args: []string{file}, shell: "ulimit -n 1024"})
	asset := regexp.MustCompile(`/assets/[0-9a-f]+/swagger-ui-bundle.js`).FindString(n.expect(http.StatusOK,
		"/docs").Body)
	for range 900 {
		if _, err := n.dialSlowly(rawGet(asset, "identity")); err != nil {
			t.Fatal(err)
		}
	}
	n.expect(http.StatusOK, "/readyz")
	n.listRepeatedly("/api/v1/garden/open/data")
}
