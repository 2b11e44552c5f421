package postgres_test

import (
	"testing"

	"herbarium/internal/store/postgres"
	"herbarium/internal/storetest"
	"herbarium/internal/storetest/pgtest"
)

// BenchmarkListPlants measures listings with a server with its usual settings.
func BenchmarkListPlants(b *testing.B) {
	server := &pgtest.Cluster{Durable: true}
	stopAfter(b, server)
	storetest.BenchmarkListings(b, storeOf(open(b, server.Database(b), postgres.Options{})))
}
