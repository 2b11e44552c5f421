package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
	"herbarium/internal/store/sqlite"
)

// raw opens the file of a database without the store.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	must.CloseAfter(t, db)
	return db
}

// fern is a plant to be created.
func fern(id int64) []store.Creation {
	return []store.Creation{{Plant: herb.NewPlant{ID: id, Plant: herb.Plant{Name: "Fern"}}}}
}

func TestOpen_files(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "50% off?#&.db") // characters that are special in a URL
	s := openFile(t, path)
	if _, err := s.CreatePlants(t.Context(), fern(1)); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, path + "-wal"} {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			t.Errorf("%s has the mode %o; others must not read hashes of keys", filepath.Base(file), mode)
		}
	}
}

func TestOpen_noFolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "none", "herbarium.db")
	if _, err := sqlite.Open(t.Context(), path, sqlite.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestOpen_notADatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "herbarium.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("These are not the bytes of a database. ", 100)),
		0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), path, sqlite.Options{}); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v; want an error that names the file", err)
	}
}

// TestOpen_concurrent opens a new database concurrently: one store creates the tables, and all can
// use them.
func TestOpen_concurrent(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "herbarium.db")
	var wg sync.WaitGroup
	for i := range int64(8) {
		wg.Go(func() {
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{BusyTimeout: time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := s.CreatePlants(t.Context(), fern(i)); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var plants int
	if err := raw(t, path).QueryRowContext(t.Context(), "SELECT plants FROM totals").Scan(&plants); err != nil ||
		plants != 8 {
		t.Errorf("%d plants, %v", plants, err)
	}
}

func TestOpen_newer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "herbarium.db")
	if err := openAndClose(t, path); err != nil {
		t.Fatal(err)
	}
	if _, err := raw(t, path).ExecContext(t.Context(),
		"UPDATE schema_version SET version = 99, needs = 99"); err != nil {
		t.Fatal(err)
	}
	err := openAndClose(t, path)
	if err == nil || !strings.Contains(err.Error(), "version 99") || !strings.Contains(err.Error(), "up to 7") {
		t.Errorf("got %v; want both versions named", err)
	}
}

func openAndClose(t *testing.T, path string) error {
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		return err
	}
	return s.Close()
}

// TestBusy holds the write lock: writes fail in time with an error that advises to try again, and
// reads work.
func TestBusy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "herbarium.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{BusyTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	other, err := raw(t, path).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	if outcomes, err := s.CreatePlants(t.Context(), fern(1)); herb.CodeOf(err) != herb.CodeUnavailable ||
		outcomes != nil {
		t.Errorf("got %v, %v", outcomes, err)
	}
	if err := s.AddKey(t.Context(), herb.Key{ID: "ann"}); herb.CodeOf(err) != herb.CodeUnavailable {
		t.Errorf("got %v", err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("reading waits for writing: %v", err)
	}
	if err := openAndClose(t, path); err != nil {
		t.Errorf("opening waits for writing: %v", err)
	}
	if _, err := other.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreatePlants(t.Context(), fern(1)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestBusy_continuously holds the write lock nearly all the time, as a process does that writes
// continuously: others still get it.
func TestBusy_continuously(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "herbarium.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	must.CloseAfter(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	held, ended := make(chan struct{}), make(chan error, 1)
	started := sync.OnceFunc(func() { close(held) })
	go func() {
		conn, err := raw(t, path).Conn(t.Context())
		for err == nil && ctx.Err() == nil {
			if _, busy := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); busy != nil {
				continue // the other process has the lock for a moment
			}
			started()
			_, err = conn.ExecContext(t.Context(),
				"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50000) "+
					"SELECT count(*) FROM n; ROLLBACK")
		}
		ended <- errors.Join(err, conn.Close())
	}()
	<-held
	for id := range int64(20) {
		if _, err := s.CreatePlants(t.Context(), fern(id)); err != nil {
			t.Error(err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestPing_closed(t *testing.T) {
	t.Parallel()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "herbarium.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err == nil {
		t.Error("a closed store answers")
	}
}

// openFile opens a database that is closed when the test ends.
func openFile(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	must.CloseAfter(t, s)
	return s
}
