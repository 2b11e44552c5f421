package httpapi

import (
	"container/list"
	"slices"
	"sync"
)

// bodyCacheSize is the maximum size of all cached bodies. A compressed page of 25 records has about 3 KiB.
const bodyCacheSize = 16 << 20

// bodyKey identifies a compressed body.
type bodyKey struct {
	tag    string // entity tag that determines the content
	coding coding
}

// bodyCache is an LRU cache of compressed bodies. It is safe for concurrent use.
type bodyCache struct {
	limit int // in bytes

	mu       sync.Mutex
	size     int
	elements map[bodyKey]*list.Element
	order    *list.List // of cachedBody, least recently used first
}

type cachedBody struct {
	key  bodyKey
	body []byte
}

func newBodyCache(limit int) *bodyCache {
	return &bodyCache{limit: limit, elements: map[bodyKey]*list.Element{}, order: list.New()}
}

// get returns a cached body, or nil if there is none. The caller must not modify it.
func (c *bodyCache) get(key bodyKey) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.elements[key]
	if !ok {
		return nil
	}
	c.order.MoveToBack(e)
	return e.Value.(cachedBody).body
}

// add adds a copy of a body that get has not returned, unless it is too large.
func (c *bodyCache) add(key bodyKey, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, cached := c.elements[key] // by another request
	if cached || len(body) > c.limit/16 {
		return
	}
	c.elements[key] = c.order.PushBack(cachedBody{key, slices.Clone(body)})
	c.size += entrySize(body)
	for c.size > c.limit {
		oldest := c.order.Remove(c.order.Front()).(cachedBody)
		delete(c.elements, oldest.key)
		c.size -= entrySize(oldest.body)
	}
}

// entrySize returns the memory that a cached body uses: the body, its key and the elements of the map and the list.
func entrySize(body []byte) int { return len(body) + 256 }
