package postgres_test

import (
	"context"
	"testing"

	"herbarium/internal/must"
	"herbarium/internal/store/pgtest"
	"herbarium/internal/store/postgres"
)

// cluster is the server of all tests of this package.
var cluster pgtest.Cluster

func TestMain(m *testing.M) { cluster.Main(m) }

// stopAfter stops a server when the test ends.
func stopAfter(t testing.TB, server *pgtest.Cluster) {
	t.Helper()
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
}

// open opens a store that is closed when the test ends, and migrates its schema.
func open(t testing.TB, address string, o postgres.Options) *postgres.Store {
	t.Helper()
	s := openLater(t, address, o)
	if err := s.Migrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s
}

// openLater opens a store that is closed when the test ends. It connects on first use.
func openLater(t testing.TB, address string, o postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(context.Background(), address, o)
	if err != nil {
		t.Fatal(err)
	}
	must.CloseAfter(t, s)
	return s
}
