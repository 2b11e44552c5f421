package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"herbarium/internal/store/sqlite"
	"herbarium/internal/storetest"
)

// open opens a new database that is closed with the test.
func open(t testing.TB) *sqlite.Store {
	t.Helper()
	return openFile(t, filepath.Join(t.TempDir(), "herbarium.db"))
}

func openFile(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(context.Background(), path, sqlite.Options{})
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

func storeOf(s *sqlite.Store) storetest.Store { return storetest.Store{Tables: s.Tables, Engine: s} }
