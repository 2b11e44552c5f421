package sqlite

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// TestDiskFull checks that a full disk is reported as such by writes and by Ping, and that both recover by themselves.
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
	if err := s.reader.QueryRowContext(t.Context(), "SELECT count(*) FROM write_probe").Scan(&rows); err != nil || rows != 0 {
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
