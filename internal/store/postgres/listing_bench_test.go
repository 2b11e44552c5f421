package postgres_test

import (
	"testing"

	"herbarium/internal/store/postgres"
	"herbarium/internal/storetest"
	"herbarium/internal/storetest/pgtest"
)

// BenchmarkListPlants measures listings on a server with its usual settings, whose statistics are up to date.
func BenchmarkListPlants(b *testing.B) {
	server := &pgtest.Cluster{Durable: true}
	stopAfter(b, server)
	address := server.Database(b)
	s := open(b, address, postgres.Options{})
	storetest.BenchmarkListings(b, storetest.Store{Tables: s.Tables, Engine: s}, func() { run(b, address, "VACUUM ANALYZE") })
}
