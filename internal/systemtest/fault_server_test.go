//go:build linux

package systemtest

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // to lock the database of a server

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// numbers is the dataset of these tests.
const numbers = "garden/numbers"

// startNumbers publishes three records and starts a server, with a shell command before it.
func startNumbers(t *testing.T, shell string) *node {
	t.Helper()
	data := t.TempDir()
	publishNumbers(t, data, 3)
	return start(t, config{data: data, shell: shell})
}

// publishNumbers publishes a file with n records with a process of its own.
func publishNumbers(t *testing.T, data string, n int) {
	t.Helper()
	run(t, data, "publish", writeNumbers(t, n), "--as", numbers)
}

// writeNumbers returns the path of a CSV file with n records.
func writeNumbers(t *testing.T, n int) string {
	t.Helper()
	return write(t, "n\n"+strings.Repeat("1\n", n), t.TempDir(), "numbers.csv")
}

// listsNumbers fails unless a number of records is listed.
func listsNumbers(ctx context.Context, n *node, records int) error {
	p, err := list(ctx, n.URL, numbers, "")
	if err == nil && p.Meta.Total != records {
		err = fmt.Errorf("%d records are listed; want %d", p.Meta.Total, records)
	}
	return err
}

// TestSlowDisk_plants holds the write lock of the database to simulate a disk that does not finish
// a write. Datasets are still listed; a creation waits or is rejected, and succeeds afterwards.
func TestSlowDisk_plants(t *testing.T) {
	t.Parallel()
	n := startNumbers(t, "")
	db, err := sql.Open("sqlite", filepath.Join(n.data, "herbarium.db"))
	must.NoError(t, err)
	defer db.Close()
	conn, err := db.Conn(t.Context())
	must.NoError(t, err)
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	type result struct {
		programtest.Response
		err error
	}
	waiting := make(chan result, 1)
	go func() {
		r, err := post(t.Context(), n.URL, token, `{"id":1,"name":"Rose"}`)
		waiting <- result{r, err}
	}()
	for range 20 {
		must.NoError(t, listsNumbers(t.Context(), n, 3))
	}
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if r := <-waiting; r.err != nil || r.Status != http.StatusOK && r.Status != http.StatusServiceUnavailable {
		t.Errorf("the creation that waited: status %d, %v: %s", r.Status, r.err, r.Body)
	}
	if r, err := post(t.Context(), n.URL, token, `{"id":2,"name":"Fern"}`); err != nil || r.Status != http.StatusOK {
		t.Errorf("a creation afterwards: status %d, %v: %s", r.Status, err, r.Body)
	}
}

// TestDescriptors uses up the file descriptors of a server, publishes a version that it then cannot
// open, and frees them.
func TestDescriptors(t *testing.T) {
	t.Parallel()
	n := startNumbers(t, "ulimit -n 96")
	must.NoError(t, listsNumbers(t.Context(), n, 3)) // the client keeps its connection
	var idle []net.Conn
	for range 150 { // the rest waits in the queue of the system
		conn, err := net.Dial("tcp", n.Addr())
		must.NoError(t, err)
		defer conn.Close()
		idle = append(idle, conn)
	}
	publishNumbers(t, n.data, 5)
	for range 20 { // either version will do: the server may have closed idle connections
		if _, err := list(t.Context(), n.URL, numbers, ""); err != nil {
			t.Fatalf("without descriptors: %v", err)
		}
	}
	for _, conn := range idle {
		conn.Close()
	}
	eventually(t, "the server lists the new version with descriptors again", func(ctx context.Context) error {
		return listsNumbers(ctx, n, 5)
	})
}
