package web

import (
	"container/list"
	"sync"

	"herbarium/internal/query"
)

// maxFacetCache is the size of the cache of facets in bytes, about a thousand facets.
const maxFacetCache = 4 << 20

// facetCache holds the facets of all rows of versions that were requested last. It is safe for concurrent use.
type facetCache struct {
	mu      sync.Mutex
	entries map[facetKey]*list.Element
	recent  *list.List // of facetEntry, the most recently used first
	size    int
}

type facetEntry struct {
	key   facetKey
	facet query.Facet
	size  int
}

func newFacetCache() *facetCache {
	return &facetCache{entries: map[facetKey]*list.Element{}, recent: list.New()}
}

func (c *facetCache) get(key facetKey) (query.Facet, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if !ok {
		return query.Facet{}, false
	}
	c.recent.MoveToFront(e)
	return e.Value.(facetEntry).facet, true
}

// put adds a facet and evicts the least recently used ones beyond the limit.
func (c *facetCache) put(key facetKey, facet query.Facet) {
	const overhead = 500 // of an entry, about
	size := overhead + len(facet.Min) + len(facet.Max)
	for _, v := range facet.Values {
		size += len(v.Value) + overhead/10
	}
	for _, b := range facet.Histogram {
		size += len(b.From) + len(b.To) + overhead/10
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[key]; ok || size > maxFacetCache/8 {
		return
	}
	c.entries[key] = c.recent.PushFront(facetEntry{key, facet, size})
	for c.size += size; c.size > maxFacetCache; {
		oldest := c.recent.Remove(c.recent.Back()).(facetEntry)
		delete(c.entries, oldest.key)
		c.size -= oldest.size
	}
}
