package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
)

func openNew(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "herbarium.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	must.CloseAfter(t, s)
	return s
}

// TestSettings checks the settings of connections that durability and safety depend on.
func TestSettings(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	for _, tt := range []struct {
		name   string
		db     *sql.DB
		pragma string
		want   string
	}{
		{"writer", s.writer, "journal_mode", "wal"},
		{"writer", s.writer, "synchronous", "2"}, // full
		{"writer", s.writer, "foreign_keys", "1"},
		{"writer", s.writer, "busy_timeout", "0"}, // writes wait in Go
		{"reader", s.reader, "journal_mode", "wal"},
		{"reader", s.reader, "query_only", "1"},
		{"reader", s.reader, "busy_timeout", "5000"},
	} {
		var got string
		if err := tt.db.QueryRowContext(t.Context(), "PRAGMA "+tt.pragma).Scan(&got); err != nil || got != tt.want {
			t.Errorf("%s: %s is %q, %v; want %q", tt.name, tt.pragma, got, err, tt.want)
		}
	}
}

// TestRead_canceled checks that an endless statement ends when its context is canceled.
func TestRead_canceled(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	ctx, cancel := context.WithCancel(t.Context())
	began := make(chan struct{})
	go func() {
		<-began
		cancel()
	}()
	err := s.read(ctx, "counting", func(ctx context.Context, tx store.Tx) error {
		close(began)
		rows, err := tx.QueryContext(ctx,
			"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			return errors.New("counted to infinity")
		}
		return rows.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v; want the error of the context", err)
	}
}

// TestDiskFull checks that a full disk is reported as such by writes and by Ping, and that both
// recover by themselves.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	var pages int
	if err := s.writer.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	limit := func(pages int) {
		t.Helper()
		if _, err := s.writer.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	next := int64(0)
	create := func() error {
		creations := make([]store.Creation, 500)
		for i := range creations {
			next++
			creations[i].Plant = herb.NewPlant{ID: next, Plant: herb.Plant{Name: strings.Repeat("x", 250)}}
		}
		_, err := s.CreatePlants(t.Context(), creations)
		return err
	}
	full := func(what string, err error) {
		t.Helper()
		if herb.CodeOf(err) != herb.CodeUnavailable || !strings.Contains(herb.MessageOf(err), "disk full") {
			t.Errorf("%s: %v; want %q", what, err, "disk full")
		}
	}
	limit(pages)
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("before any write has failed: %v", err)
	}
	full("creating", create())
	full("ping", s.Ping(t.Context()))
	full("ping again", s.Ping(t.Context()))
	full("adding a key", func() error {
		for i := range 100 {
			if err := s.AddKey(t.Context(), herb.Key{ID: fmt.Sprint(i), Name: strings.Repeat("x", 4000)}); err != nil {
				return err
			}
		}
		return nil
	}())
	limit(1 << 30)
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("with space again: %v", err)
	}
	if err := create(); err != nil {
		t.Errorf("creating with space again: %v", err)
	}
	var rows int
	if err := s.reader.QueryRowContext(t.Context(), "SELECT count(*) FROM write_probe").Scan(&rows); err != nil ||
		rows != 0 {
		t.Errorf("the probe leaves %d rows, %v", rows, err)
	}
}

func TestDiskFault_system(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want string
	}{
		{syscall.ENOSPC, "disk full"},
		{syscall.EROFS, "read-only"},
		{syscall.EMFILE, "too many open files"},
	} {
		err := mapError("testing", fmt.Errorf("wrapped: %w", tt.err))
		if herb.CodeOf(err) != herb.CodeUnavailable || !strings.Contains(herb.MessageOf(err), tt.want) {
			t.Errorf("%v became %v", tt.err, err)
		}
	}
}
