//go:build linux

package systemtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"herbarium/internal/must"
)

// TestHalfSentForms opens as many connections as there are slots for requests, each with a form
// that never ends.
func TestHalfSentForms(t *testing.T) {
	t.Parallel()
	n := start(t, config{args: []string{writeOpenAndProtected(t)}})
	const clients = 1024
	for range clients {
		if _, err := n.dial("POST /datasets/vault/people/key HTTP/1.1\r\nHost: x\r\n" +
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nkey="); err != nil {
			t.Fatal(err)
		}
	}
	n.waitForConnections(t, clients)
	n.listRepeatedly("/api/v1/garden/open/data")
	n.expect(http.StatusOK, "/readyz")
}

// TestWaitingClients has more clients than a lane has slots wait for Parquet files and comparisons
// of kept versions, from one address and from many. They hold no slot, the files take turns between
// clients, and another client gets its own.
func TestWaitingClients(t *testing.T) {
	t.Parallel()
	const records, clients = 50_000, 600
	dir := t.TempDir()
	data := dir + "/data"
	var file string
	for edition := range 4 {
		var rows strings.Builder
		rows.WriteString("id,part,name\n")
		for i := range records {
			fmt.Fprintf(&rows, "%d,%d,rose %d\n", i, i%7, (i+edition)%1000)
		}
		file = write(t, rows.String(), dir, "garden", "waited.csv")
		run(t, data, "publish", file)
	}
	n := start(t, config{data: data, settings: []string{"HERBARIUM_MEMORY=256MiB", "HERBARIUM_MAX_IN_FLIGHT=64"}})
	const dataset = "/api/v1/garden/waited"
	var kept struct {
		Versions []struct {
			Version string `json:"version"`
		} `json:"versions"`
	}
	must.NoError(t, json.Unmarshal([]byte(n.expect(http.StatusOK, dataset+"/versions").Body), &kept))
	if len(kept.Versions) != 4 {
		t.Fatalf("%d versions are kept", len(kept.Versions))
	}
	for i := range clients {
		from, to := kept.Versions[i%4].Version, kept.Versions[i/4%4].Version
		path := dataset + "/data.parquet?_types=text&_version=" + from
		if i%2 == 0 {
			path = dataset + "/changes?_from=" + from + "&_to=" + to
		}
		address := greedy
		if i%3 == 0 {
			address = fmt.Sprintf("127.0.1.%d", 1+i%100)
		}
		if _, err := n.dialFrom(address, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	n.listRepeatedly(dataset + "/data?per_page=1")
	for _, path := range []string{"/data.parquet", "/changes?_from=" + kept.Versions[0].Version + "&_to=" +
		kept.Versions[3].Version} {
		eventually(t, path, func(context.Context) error {
			r, err := n.request(http.MethodGet, dataset+path, "")
			if err == nil && r.Status != http.StatusOK {
				err = fmt.Errorf("status %d: %s", r.Status, r.Body)
			}
			return err
		})
	}
}

// TestSlowExports starts twice as many exports as there are slots, and reads nothing of them.
func TestSlowExports(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("id,text\n")
	for i := range 2000 {
		fmt.Fprintf(&rows, "%d,%s\n", i, strings.Repeat("rose ", 1000))
	}
	file := write(t, rows.String(), dir, "garden", "long.csv")
	n := start(t, config{args: []string{file}, settings: []string{"HERBARIUM_MAX_IN_FLIGHT=32"}})
	const clients = 64
	for i := range clients {
		accept := "text/csv"
		encoding := ""
		if i%2 == 0 {
			encoding = "Accept-Encoding: gzip\r\n"
		}
		conn, err := n.dial("")
		must.NoError(t, err)
		must.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4096))
		if _, err := fmt.Fprintf(conn, "GET /api/v1/garden/long/data HTTP/1.1\r\nHost: x\r\nAccept: %s\r\n%s\r\n",
			accept, encoding); err != nil {
			t.Fatal(err)
		}
		// The first byte shows that the request was admitted or rejected; the rest is not read.
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	n.listRepeatedly("/api/v1/garden/long/data?per_page=1")
}

// TestGreedyClient starts more exports and large listings than there are slots, all from one
// address, and reads nothing of them. Another address still gets both.
func TestGreedyClient(t *testing.T) {
	t.Parallel()
	var rows strings.Builder
	rows.WriteString("id,text\n")
	for i := range 2000 {
		fmt.Fprintf(&rows, "%d,%s\n", i, strings.Repeat("rose ", 2000))
	}
	file := write(t, rows.String(), t.TempDir(), "garden", "long.csv")
	n := start(t, config{args: []string{file}})
	export, large := "/api/v1/garden/long/data.csv", "/api/v1/garden/long/data?per_page=100"
	for _, path := range []string{export, large} {
		const lane = `{lane="bulk"}`
		for range int(n.metric("herbarium_lane_slots"+lane)) + 20 {
			conn, err := n.dialFrom(greedy, "")
			must.NoError(t, err)
			must.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4096))
			if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, "slots are taken", func(context.Context) error {
			if taken, slots := n.metric("herbarium_lane_in_flight"+lane),
				n.metric("herbarium_lane_slots"+lane); taken < slots/2 {
				return fmt.Errorf("%v of %v slots are taken", taken, slots)
			}
			return nil
		})
	}
	for range 5 {
		n.expect(http.StatusOK, export+"?id=7")
		n.expect(http.StatusOK, large)
		n.expect(http.StatusOK, "/api/v1/garden/long/data?per_page=1")
	}
}

// TestLongTexts searches few records of long texts, which takes many milliseconds, with many
// clients. The searches run in the lane for expensive queries.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	const records, words, clients = 1000, 2000, 20
	var rows strings.Builder
	rows.WriteString("id,text\n")
	for i := range records {
		fmt.Fprintf(&rows, "%d,", i)
		for j := range words {
			fmt.Fprintf(&rows, "%c%d ", 'a'+j%2, (i*words+j)*7919%100_000)
		}
		rows.WriteByte('\n')
	}
	n := start(t, config{args: []string{write(t, rows.String(), t.TempDir(), "garden", "long.csv")}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for ctx.Err() == nil {
				r, err := n.requestFrom(greedy, http.MethodGet, "/api/v1/garden/long/data?search="+
					url.QueryEscape("a* b*"), "")
				if err == nil && r.Status != http.StatusOK && r.Status != http.StatusServiceUnavailable {
					t.Errorf("search: status %d: %s", r.Status, r.Body)
				}
			}
		})
	}
	eventually(t, "searches run in their lane", func(context.Context) error {
		if n.metric(`herbarium_lane_in_flight{lane="expensive"}`) == 0 {
			return errors.New("no query is expensive")
		}
		return nil
	})
	n.listRepeatedly("/api/v1/garden/long/data?per_page=1")
	cancel()
	wg.Wait()
}

// TestDisconnectedQueries sends the most expensive filters and disconnects.
func TestDisconnectedQueries(t *testing.T) {
	t.Parallel()
	const records, clients = 100_000, 200
	var rows strings.Builder
	rows.WriteString("id,name,tags\n")
	for i := range records {
		fmt.Fprintf(&rows, "%d,v%06d,\"e%06d, f%06d, g%06d\"\n", i, i, i, i, i)
	}
	dir := t.TempDir()
	file := write(t, rows.String(), dir, "garden", "wide.csv")
	data := dir + "/data"
	run(t, data, "publish", file)
	n := start(t, config{data: data})
	n.expect(http.StatusOK, "/api/v1/garden/wide/data")
	before := n.metric("go_goroutines")
	queries := []string{"name[prefix]=v", "tags[gte]=a", "tags[prefix]=e&name[prefix]=v",
		"search=" + url.QueryEscape("v* e* f* g*")}
	for i := range clients {
		conn, err := n.dial("GET /api/v1/garden/wide/data?" + queries[i%len(queries)] + " HTTP/1.1\r\nHost: x\r\n\r\n")
		must.NoError(t, err)
		conn.Close()
	}
	n.expect(http.StatusOK, "/api/v1/garden/wide/data")
	n.waitUntilIdle(t, before)
	const limit = 1 << 30
	if got := n.metric("go_memstats_sys_bytes"); got > limit {
		t.Errorf("the server has taken %.0f bytes; want at most %d", got, limit)
	}
}

// TestPlantsSearches runs expensive searches of the plant store beside first pages and creations.
func TestPlantsSearches(t *testing.T) {
	t.Parallel()
	n := start(t, config{})
	const plants, writers = 3000, 16
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for id := w; id < plants; id += writers {
				if r, err := n.plant(id + 1); err != nil || r.Status != http.StatusOK {
					t.Errorf("plant %d: status %d, %v: %s", id+1, r.Status, err, r.Body)
					return
				}
			}
		})
	}
	wg.Wait()
	search := "/api/v1/store/plants/data?search=" + url.QueryEscape("r* s* t* b*")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 50 {
		wg.Go(func() {
			for ctx.Err() == nil {
				r, err := n.request(http.MethodGet, search, "")
				if err != nil && ctx.Err() == nil {
					t.Errorf("search: %v", err)
				}
				if err == nil && r.Status != http.StatusOK && r.Status != http.StatusServiceUnavailable &&
					r.Status != http.StatusTooManyRequests {
					t.Errorf("search: status %d: %s", r.Status, r.Body)
				}
			}
		})
	}
	for i := range 10 {
		n.expect(http.StatusOK, "/api/v1/store/plants/data")
		if r, err := n.plant(plants + 1 + i); err != nil || r.Status != http.StatusOK {
			t.Errorf("creation beside searches: status %d, %v: %s", r.Status, err, r.Body)
		}
	}
	cancel()
	wg.Wait()
}

// TestLargePages requests pages of records of several megabytes.
func TestLargePages(t *testing.T) {
	t.Parallel()
	const records, size, clients = 16, 3 << 20, 4
	var rows strings.Builder
	rows.WriteString("id,text\n")
	for i := range records {
		fmt.Fprintf(&rows, "%d,%s\n", i, strings.Repeat("x", size))
	}
	dir := t.TempDir()
	file := write(t, rows.String(), dir, "garden", "huge.csv")
	data := dir + "/data"
	run(t, data, "publish", file)
	n := start(t, config{data: data})
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			r, err := n.request(http.MethodGet, "/api/v1/garden/huge/data?per_page=100", "")
			switch {
			case err != nil:
				t.Error(err)
			case r.Status == http.StatusServiceUnavailable: // more at once than the server admits
			case r.Status != http.StatusOK || len(r.Body) < records*size || !json.Valid([]byte(r.Body)):
				t.Errorf("status %d, %d bytes; want at least %d of JSON", r.Status, len(r.Body), records*size)
			}
		})
	}
	wg.Wait()
	const limit = 3 * records * size // each client that is buffered takes more than one page
	if got := n.metric("go_memstats_sys_bytes"); got > limit {
		t.Errorf("the server has taken %.0f bytes; want at most %d", got, limit)
	}
}

// TestUnknownDatasets requests many datasets that do not exist, while another client lists.
func TestUnknownDatasets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 50 {
		write(t, "a\n1\n", dir, "garden", fmt.Sprintf("set%03d.csv", i))
	}
	n := start(t, config{args: []string{dir}})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 50 {
				n.expect(http.StatusNotFound, fmt.Sprintf("/api/v1/garden/sett%03d%d/data", i, w))
			}
		})
	}
	n.listRepeatedly("/api/v1/garden/set001/data")
	wg.Wait()
	n.expect(http.StatusNotFound, "/api/v1/garden/"+strings.Repeat("s", 4000)+"/data")
}

// TestIdleConnections opens more connections than the server has descriptors for and leaves them
// idle.
func TestIdleConnections(t *testing.T) {
	t.Parallel()
	file := write(t, "a\n1\n", t.TempDir(), "garden", "open.csv")
	n := start(t, config{args: []string{file}, shell: "ulimit -n 128"})
	for range 200 {
		if _, err := n.dial("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	n.listRepeatedly("/api/v1/garden/open/data")
}
