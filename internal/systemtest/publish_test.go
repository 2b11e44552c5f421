//go:build linux

package systemtest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// publishKey returns a key that may publish one dataset, or a namespace.
func publishKey(t *testing.T, data, target string) string {
	t.Helper()
	return strings.TrimSpace(run(t, data, "keys", "create", "--name", "publisher", "--scope", "publish:"+target))
}

// put sends a file to be published.
func put(ctx context.Context, base, dataset, key, file string, header ...string) (programtest.Response, error) {
	return programtest.Send(ctx, client, http.MethodPut, base+"/api/v1/"+dataset+"/source?_allow_breaking=true", file,
		append(header, "X-API-Key", key)...)
}

// mustPut is put for a file that must be published.
func (n *node) mustPut(dataset, key, file string, header ...string) {
	n.t.Helper()
	r, err := put(n.t.Context(), n.URL, dataset, key, file, header...)
	must.NoError(n.t, err)
	if r.Status != http.StatusOK && r.Status != http.StatusCreated {
		n.t.Fatalf("PUT %s: %d %s", dataset, r.Status, r.Body)
	}
}

// leftovers returns the files in a data folder that are neither the database nor of live versions.
func leftovers(t *testing.T, data string) (left []string) {
	t.Helper()
	for _, pattern := range []string{"herbarium-*", "*.tmp", "versions/*.part", "versions/*.part/*"} {
		found, err := filepath.Glob(filepath.Join(data, pattern))
		must.NoError(t, err)
		for _, f := range found {
			if !strings.Contains(filepath.Base(f), "herbarium.db") {
				left = append(left, f)
			}
		}
	}
	return left
}

// hostileFiles returns files that were made to harm a server.
func hostileFiles(t *testing.T) map[string]string {
	t.Helper()
	var bomb bytes.Buffer
	w, err := gzip.NewWriterLevel(&bomb, gzip.BestCompression)
	must.NoError(t, err)
	block := bytes.Repeat([]byte("a"), 16<<20)
	for range 16 {
		_, err := w.Write(block)
		must.NoError(t, err)
	}
	must.NoError(t, w.Close())
	return map[string]string{
		"gzip bomb":        bomb.String(),
		"deep JSON":        strings.Repeat(`[`, 1_000_000),
		"deep object":      strings.Repeat(`{"a":`, 200_000) + "1" + strings.Repeat("}", 200_000),
		"wide header":      strings.Repeat("a,", 2_000_000) + "\n1\n",
		"open quote":       "a,b\n\"" + strings.Repeat("x", 5_000_000),
		"binary":           "\x7fELF" + strings.Repeat("\x00\x01\x02", 10_000),
		"SQLite header":    "SQLite format 3\x00" + strings.Repeat("\xff", 4096),
		"Parquet frame":    "PAR1" + strings.Repeat("\xff", 4096) + "PAR1",
		"zip frame":        "PK\x03\x04" + strings.Repeat("\xff", 4096) + "PK\x05\x06" + strings.Repeat("\xff", 18),
		"virtual workbook": workbook(t, `<property name="x"/>`, strings.Repeat("<row>", 100_000)),
		"NUL":              strings.Repeat("\x00", 1_000_000),
		"descriptor":       `{"resources":[{"path":"/etc/passwd"}]}`,
	}
}

// TestPublish_hostileFiles sends hostile files with a key that may publish one dataset: each is
// published or rejected, and the server and other datasets stay as they are.
func TestPublish_hostileFiles(t *testing.T) {
	t.Parallel()
	n := start(t, config{})
	all, one := publishKey(t, n.data, "shop/*"), publishKey(t, n.data, "shop/hostile")
	n.mustPut("shop/prices", all, "id,price\n1,2\n")
	for name, file := range hostileFiles(t) {
		r, err := put(t.Context(), n.URL, "shop/hostile", one, file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		switch r.Status {
		case http.StatusOK, http.StatusCreated, http.StatusUnprocessableEntity, http.StatusConflict:
		default:
			t.Errorf("%s gives %d %.300s", name, r.Status, r.Body)
		}
		if strings.Contains(r.Body, "root:") || strings.Contains(r.Body, n.data) {
			t.Errorf("%s reveals files of the server: %.300s", name, r.Body)
		}
		if r, err := put(t.Context(), n.URL, "shop/prices", one, file); err == nil && r.Status != http.StatusForbidden {
			t.Errorf("%s for another dataset gives %d", name, r.Status)
		}
	}
	if got := n.expect(http.StatusOK, "/api/v1/shop/prices/data").Body; !strings.Contains(got,
		`{"id":"1","price":"2"}`) {
		t.Errorf("another dataset lists %s", got)
	}
	if left := leftovers(t, n.data); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
}

// TestPublish_killed kills a server while it receives, reads and builds a version. The live version
// stays, nothing is left, and the publish has failed.
func TestPublish_killed(t *testing.T) {
	t.Parallel()
	n := start(t, config{})
	key := publishKey(t, n.data, "shop/*")
	n.mustPut("shop/prices", key, "id,price\n1,2\n")
	var large strings.Builder
	large.WriteString("id,price\n")
	for i := range 400_000 {
		fmt.Fprintf(&large, "%d,%d\n", i, i%1000)
	}
	conn, err := n.dial(fmt.Sprintf("PUT /api/v1/shop/prices/source HTTP/1.1\r\nHost: x\r\nX-API-Key: "+
		"%s\r\nContent-Length: 100000\r\n\r\nid,price\n", key))
	must.NoError(t, err)
	defer conn.Close()
	at := ""
	for _, state := range []string{"received", "reading", "building"} {
		r, err := put(t.Context(), n.URL, "shop/prices", key, large.String(), "Prefer", "respond-async")
		must.NoError(t, err)
		at = r.Header.Get("Location")
		if r.Status != http.StatusAccepted || at == "" {
			t.Fatalf("PUT: %d %s", r.Status, r.Body)
		}
		if state != "received" {
			eventually(t, "the publish is "+state, func(ctx context.Context) error {
				r, err := get(ctx, n.URL+at, "X-API-Key", key)
				if err != nil || strings.Contains(r.Body, `"state":"`+state) || strings.Contains(r.Body, `"result"`) {
					return err
				}
				return fmt.Errorf("it is %s", r.Body)
			})
		}
		n.Kill()
		n = start(t, config{data: n.data, addr: n.Addr()})
		if got := n.expect(http.StatusOK, "/api/v1/shop/prices/data").Body; !strings.Contains(got, `"total":1,`) {
			t.Fatalf("killed while %s, the server lists %.200s", state, got)
		}
	}
	eventually(t, "the publish has failed and nothing is left", func(ctx context.Context) error {
		r, err := get(ctx, n.URL+at, "X-API-Key", key)
		if err != nil {
			return err
		}
		var state struct{ State string }
		if err := json.Unmarshal([]byte(r.Body), &state); err != nil || state.State != "failed" {
			return fmt.Errorf("it is %s, %v", state.State, err)
		}
		if left := leftovers(t, n.data); len(left) > 0 {
			return fmt.Errorf("%v are left", left)
		}
		return nil
	})
	n.mustPut("shop/prices", key, "id,price\n1,2\n2,3\n")
}

// TestPublish_fullDisk sends a file to a server without disk space.
func TestPublish_fullDisk(t *testing.T) {
	t.Parallel()
	n := start(t, config{data: smallDisk(t)})
	key := publishKey(t, n.data, "shop/*")
	r, err := put(t.Context(), n.URL, "shop/prices", key, "id,price\n1,2\n")
	must.NoError(t, err)
	if r.Status != http.StatusInsufficientStorage {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	n.expect(http.StatusOK, "/api/v1")
}

// publishOverHTTP publishes on one node; all nodes list the version, and the state of the publish
// can be read on each of them.
func publishOverHTTP(t *testing.T, c *cluster) {
	r, err := put(t.Context(), c.nodes[0].URL, "sent/prices", c.token, "id,price\n1,2\n", "Prefer", "respond-async")
	if err != nil || r.Status != http.StatusAccepted {
		t.Fatalf("%v %d %s", err, r.Status, r.Body)
	}
	for _, n := range c.nodes {
		eventually(t, "a node lists the version and knows the state", func(ctx context.Context) error {
			state, err := get(ctx, n.URL+r.Header.Get("Location"), "X-API-Key", c.token)
			if err == nil && !strings.Contains(state.Body, `"state":"live"`) {
				err = fmt.Errorf("the state is %s", state.Body)
			}
			if err != nil {
				return err
			}
			p, err := list(ctx, n.URL, "sent/prices", "")
			if err == nil && p.Meta.Total != 1 {
				err = fmt.Errorf("%d records", p.Meta.Total)
			}
			return err
		})
		source, err := get(t.Context(), n.URL+"/api/v1/sent/prices/source", "X-API-Key", c.token)
		if err != nil || source.Body != "id,price\n1,2\n" {
			t.Errorf("the source on %s: %q, %v", n.Addr(), source.Body, err)
		}
	}
}

// concurrentPuts sends different files to all nodes at once, for the same live version: one wins.
func concurrentPuts(t *testing.T, c *cluster) {
	for round := range 5 {
		statuses := make([]int, len(c.nodes))
		var running sync.WaitGroup
		for i, n := range c.nodes {
			running.Go(func() {
				r, err := put(t.Context(), n.URL, "sent/prices", c.token, fmt.Sprintf("id,price\n%d,%d\n", round, i))
				if err != nil {
					t.Error(err)
				}
				statuses[i] = r.Status
			})
		}
		running.Wait()
		won := 0
		for _, s := range statuses {
			switch s {
			case http.StatusOK:
				won++
			case http.StatusConflict:
			default:
				t.Errorf("round %d: %v", round, statuses)
			}
		}
		if won == 0 {
			t.Errorf("round %d: nobody has won: %v", round, statuses)
		}
	}
}

// startLongPublish sends a file to the first node and returns while it is being published.
func (c *cluster) startLongPublish(t *testing.T) {
	t.Helper()
	file := "id,price\n" + strings.Repeat("1,2\n", 200_000)
	r, err := put(t.Context(), c.nodes[0].URL, "sent/prices", c.token, file, "Prefer", "respond-async")
	if err != nil || r.Status != http.StatusAccepted {
		t.Fatalf("%v %d %s", err, r.Status, r.Body)
	}
}

// expectOtherNodes expects that nodes other than the first, which was killed during a publish, list
// a whole version, and publish another one.
func (c *cluster) expectOtherNodes(t *testing.T) {
	t.Helper()
	for _, n := range c.nodes[1:] {
		if p, err := list(t.Context(), n.URL, "sent/prices", ""); err != nil || p.Meta.Total != 1 &&
			p.Meta.Total != 200_000 {
			t.Errorf("%s lists %d records, %v", n.Addr(), p.Meta.Total, err)
		}
	}
	c.nodes[1].mustPut("sent/prices", c.token, "id,price\n1,3\n")
}
