package sqlite_test

import (
	"testing"

	"herbarium/internal/storetest"
)

// BenchmarkListPlants measures the shapes of listings.
func BenchmarkListPlants(b *testing.B) {
	storetest.BenchmarkListings(b, open(b), storetest.BenchOptions{})
}

// BenchmarkSearches measures searches and facets that match a large part of the plants.
func BenchmarkSearches(b *testing.B) {
	storetest.BenchmarkSearches(b, open(b))
}
