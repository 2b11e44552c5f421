//go:build linux

package faulttest

import (
	"context"
	"database/sql"
	"fmt"
	"io"
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

// startServer starts a server on a data folder that is killed when the test ends.
func startServer(t *testing.T, data, shell string) *programtest.Server {
	t.Helper()
	s, err := programtest.Start(t.Context(), programtest.Options{
		Program: program, Shell: shell,
		Settings: []string{"HERBARIUM_DATA=" + data, "HERBARIUM_TOKEN=" + token, "HERBARIUM_LOG_FORMAT=json"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
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
	if err := os.WriteFile(path, []byte("n\n"+strings.Repeat("1\n", n)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// send sends a request and returns the status and the body.
func send(ctx context.Context, client *http.Client, method, address, body string) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	if method == http.MethodPost {
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// lists checks that a listing has a number of records.
func lists(ctx context.Context, client *http.Client, s *programtest.Server, records int) error {
	status, body, err := send(ctx, client, http.MethodGet, s.URL+"/api/v1/garden/numbers/data", "")
	if err == nil && (status != http.StatusOK || !strings.Contains(body, fmt.Sprintf(`"total":%d,`, records))) {
		err = fmt.Errorf("status %d; want %d records: %s", status, records, body)
	}
	return err
}

// TestSlowDisk_plants holds the write lock of the database to simulate a disk that does not finish a write. Datasets are still
// listed; a creation waits or is rejected, and succeeds afterwards.
func TestSlowDisk_plants(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	publishFile(t, data, 3)
	s := startServer(t, data, "")
	db, err := sql.Open("sqlite", filepath.Join(data, "herbarium.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	type answer struct {
		status int
		body   string
		err    error
	}
	waiting := make(chan answer, 1)
	go func() {
		status, body, err := send(t.Context(), http.DefaultClient, http.MethodPost, s.URL+"/plants", `{"id":1,"name":"Rose"}`)
		waiting <- answer{status, body, err}
	}()
	for range 20 {
		if err := lists(t.Context(), http.DefaultClient, s, 3); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if a := <-waiting; a.err != nil || a.status != http.StatusOK && a.status != http.StatusServiceUnavailable {
		t.Errorf("the creation that waited: status %d, %v: %s", a.status, a.err, a.body)
	}
	status, body, err := send(t.Context(), http.DefaultClient, http.MethodPost, s.URL+"/plants", `{"id":2,"name":"Fern"}`)
	if err != nil || status != http.StatusOK {
		t.Errorf("a creation afterwards: status %d, %v: %s", status, err, body)
	}
}

// TestDescriptors uses up the file descriptors of a server, publishes a version that it then cannot open, and frees them.
func TestDescriptors(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	publishFile(t, data, 3)
	s := startServer(t, data, "ulimit -n 96")
	client := &http.Client{Transport: &http.Transport{}} // it keeps its connection
	if err := lists(t.Context(), client, s, 3); err != nil {
		t.Fatal(err)
	}
	var idle []net.Conn
	for range 150 { // the rest waits in the queue of the system
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		idle = append(idle, conn)
	}
	publishFile(t, data, 5)
	for range 20 { // either version will do: the server may have closed idle connections
		status, body, err := send(t.Context(), client, http.MethodGet, s.URL+"/api/v1/garden/numbers/data", "")
		if err != nil || status != http.StatusOK {
			t.Fatalf("without descriptors: status %d, %v: %s", status, err, body)
		}
	}
	for _, conn := range idle {
		conn.Close()
	}
	if err := programtest.Eventually(t.Context(), func(ctx context.Context) error { return lists(ctx, client, s, 5) }); err != nil {
		t.Errorf("with descriptors again: %v", err)
	}
}
