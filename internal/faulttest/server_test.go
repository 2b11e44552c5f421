//go:build linux

package faulttest

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // to lock the database of a server

	"herbarium/internal/programtest"
)

// program is the path of the program.
var program string

func TestMain(m *testing.M) { programtest.Main(m, &program) }

// token is a key with every scope.
const token = "fault-suite-71ab0c92e5d8f3446b1cd5e09a"

// startServer publishes three records and starts a server that is killed when the test ends.
func startServer(t *testing.T, shell string) (s *programtest.Server, data string) {
	t.Helper()
	data = t.TempDir()
	publishFile(t, data, 3)
	s, err := programtest.Start(t.Context(), programtest.Options{
		Program: program, Shell: shell,
		Settings: []string{"HERBARIUM_DATA=" + data, "HERBARIUM_TOKEN=" + token, "HERBARIUM_LOG_FORMAT=json"},
	})
	must(t, err)
	t.Cleanup(s.Kill)
	return s, data
}

// publishFile publishes a CSV file with n records as garden/numbers with a process of its own.
func publishFile(t *testing.T, data string, n int) {
	t.Helper()
	run(t, data, "publish", writeCSV(t, n), "--as", "garden/numbers")
}

// writeCSV returns the path of a CSV file with n records.
func writeCSV(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "numbers.csv")
	must(t, os.WriteFile(path, []byte("n\n"+strings.Repeat("1\n", n)), 0o600))
	return path
}

// create creates a plant.
func create(ctx context.Context, s *programtest.Server, plant string) (programtest.Response, error) {
	return programtest.Send(ctx, http.DefaultClient, http.MethodPost, s.URL+"/plants", plant,
		"Authorization", "Bearer "+token, "Content-Type", "application/json")
}

// list lists the dataset.
func list(ctx context.Context, client *http.Client, s *programtest.Server) (programtest.Response, error) {
	return programtest.Send(ctx, client, http.MethodGet, s.URL+"/api/v1/garden/numbers/data", "")
}

// lists checks that a listing has a number of records.
func lists(ctx context.Context, client *http.Client, s *programtest.Server, records int) error {
	r, err := list(ctx, client, s)
	if err == nil && (r.Status != http.StatusOK || !strings.Contains(r.Body, fmt.Sprintf(`"total":%d,`, records))) {
		err = fmt.Errorf("status %d; want %d records: %s", r.Status, records, r.Body)
	}
	return err
}

// TestSlowDisk_plants holds the write lock of the database to simulate a disk that does not finish a write. Datasets are still
// listed; a creation waits or is rejected, and succeeds afterwards.
func TestSlowDisk_plants(t *testing.T) {
	t.Parallel()
	s, data := startServer(t, "")
	db, err := sql.Open("sqlite", filepath.Join(data, "herbarium.db"))
	must(t, err)
	defer db.Close()
	conn, err := db.Conn(t.Context())
	must(t, err)
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	type result struct {
		programtest.Response
		err error
	}
	waiting := make(chan result, 1)
	go func() {
		r, err := create(t.Context(), s, `{"id":1,"name":"Rose"}`)
		waiting <- result{r, err}
	}()
	for range 20 {
		must(t, lists(t.Context(), http.DefaultClient, s, 3))
	}
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if r := <-waiting; r.err != nil || r.Status != http.StatusOK && r.Status != http.StatusServiceUnavailable {
		t.Errorf("the creation that waited: status %d, %v: %s", r.Status, r.err, r.Body)
	}
	if r, err := create(t.Context(), s, `{"id":2,"name":"Fern"}`); err != nil || r.Status != http.StatusOK {
		t.Errorf("a creation afterwards: status %d, %v: %s", r.Status, err, r.Body)
	}
}

// TestDescriptors uses up the file descriptors of a server, publishes a version that it then cannot open, and frees them.
func TestDescriptors(t *testing.T) {
	t.Parallel()
	s, data := startServer(t, "ulimit -n 96")
	client := &http.Client{Transport: &http.Transport{}} // it keeps its connection
	must(t, lists(t.Context(), client, s, 3))
	var idle []net.Conn
	for range 150 { // the rest waits in the queue of the system
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		must(t, err)
		defer conn.Close()
		idle = append(idle, conn)
	}
	publishFile(t, data, 5)
	for range 20 { // either version will do: the server may have closed idle connections
		if r, err := list(t.Context(), client, s); err != nil || r.Status != http.StatusOK {
			t.Fatalf("without descriptors: status %d, %v: %s", r.Status, err, r.Body)
		}
	}
	for _, conn := range idle {
		conn.Close()
	}
	if err := programtest.Eventually(t.Context(), func(ctx context.Context) error { return lists(ctx, client, s, 5) }); err != nil {
		t.Errorf("with descriptors again: %v", err)
	}
}
