package sqlite_test

import (
	"testing"

	"herbarium/internal/storetest"
)

// BenchmarkListPlants measures listings.
func BenchmarkListPlants(b *testing.B) {
	s := open(b)
	storetest.BenchmarkListings(b, storetest.Store{Tables: s.Tables, Engine: s}, nil)
}
