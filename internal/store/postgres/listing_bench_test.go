package postgres_test

import (
	"testing"

	"herbarium/internal/store/postgres"
	"herbarium/internal/storetest"
	"herbarium/internal/storetest/pgtest"
)

// BenchmarkListPlants measures the shapes of listings on a server with its usual settings, whose statistics are up to date.
func BenchmarkListPlants(b *testing.B) {
	server := &pgtest.Cluster{Durable: true}
	stopAfter(b, server)
	address := server.Database(b)
	s := open(b, address, postgres.Options{})
	storetest.BenchmarkListings(b, storetest.Store{Tables: s.Tables, Engine: s}, storetest.BenchOptions{
		Filled: func() { run(b, address, "VACUUM ANALYZE") },
		Measure: func(b *testing.B, run func()) {
			before, _ := server.CPU() // where it is not known, there is no figure
			run()
			if after, err := server.CPU(); err == nil {
				b.ReportMetric(float64((after-before).Microseconds())/1000/float64(b.N), "server-ms/op")
			}
		},
	})
}
