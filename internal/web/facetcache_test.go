package web

import (
	"fmt"
	"strings"
	"testing"

	"herbarium/internal/query"
)

// TestFacetCache checks that the cache stays below its limit and evicts the least recently used facets.
func TestFacetCache(t *testing.T) {
	t.Parallel()
	c := newFacetCache()
	first := facetKey{version: "first"}
	c.put(first, query.Facet{Distinct: 7})
	value := strings.Repeat("x", 10_000)
	for i := range 2000 {
		c.put(facetKey{version: "v", field: i}, query.Facet{Values: []query.ValueCount{{Value: fmt.Sprint(value, i)}}})
		if got, ok := c.get(first); !ok || got.Distinct != 7 {
			t.Fatalf("a facet that is in use is evicted after %d others", i)
		}
	}
	if c.size > maxFacetCache || c.size < maxFacetCache/2 || len(c.entries) != c.recent.Len() {
		t.Errorf("the cache has %d bytes in %d entries", c.size, len(c.entries))
	}
	if _, ok := c.get(facetKey{version: "v", field: 0}); ok {
		t.Error("the oldest facet is not evicted")
	}
	if _, ok := c.get(facetKey{version: "v", field: 1999}); !ok {
		t.Error("the newest facet is not cached")
	}
	huge := facetKey{version: "huge"}
	c.put(huge, query.Facet{Min: strings.Repeat("x", maxFacetCache/4)})
	if _, ok := c.get(huge); ok {
		t.Error("a huge facet is cached")
	}
}
