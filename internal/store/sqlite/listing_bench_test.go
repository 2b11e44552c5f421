package sqlite_test

import (
	"testing"

	"herbarium/internal/storetest"
)

// BenchmarkListPlants measures the shapes of listings.
func BenchmarkListPlants(b *testing.B) {
	storetest.BenchmarkListings(b, open(b), storetest.BenchOptions{})
}
