package sqlite_test

import (
	"testing"

	"herbarium/internal/storetest"
)

// BenchmarkListPlants measures listings.
func BenchmarkListPlants(b *testing.B) {
	storetest.BenchmarkListings(b, storeOf(open(b)))
}
