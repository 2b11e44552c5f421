package postgres_test

import (
	"testing"

	"herbarium/internal/store/postgres"
	"herbarium/internal/storetest"
)

func TestListPlants(t *testing.T) {
	t.Parallel()
	storetest.RunListings(t, 20, func(t testing.TB) storetest.Store { return storeOf(open(t, cluster.Database(t), postgres.Options{})) })
}

func storeOf(s *postgres.Store) storetest.Store { return storetest.Store{Tables: s.Tables, Engine: s} }
