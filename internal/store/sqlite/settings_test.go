package sqlite

import (
	"database/sql"
	"path/filepath"
	"testing"
)

func openNew(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "herbarium.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
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
		{"writer", s.writer, "busy_timeout", "5000"},
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
