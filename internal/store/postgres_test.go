//go:build unix

package store_test

import (
	"context"
	"testing"
	"time"

	"herbarium/internal/must"
	"herbarium/internal/store/pgtest"
	"herbarium/internal/store/postgres"
)

// cluster is the PostgreSQL server of all tests of this package.
var cluster pgtest.Cluster

func TestMain(m *testing.M) { cluster.Main(m) }

func TestPostgres(t *testing.T) {
	t.Parallel()
	run(t, func(t testing.TB) Database {
		address := cluster.Database(t)
		return func(t testing.TB, now func() time.Time) Store {
			t.Helper()
			s, err := postgres.Open(context.Background(), address, postgres.Options{Now: now})
			must.NoError(t, err)
			return Store{Tables: s.Tables, engine: s}
		}
	})
}
