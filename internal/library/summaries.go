package library

import (
	"sync"

	"github.com/golang/groupcache/lru"

	"herbarium/internal/herb"
)

// summaryCache caches the descriptions that lists of datasets need, because decoding one takes
// milliseconds if the dataset has hundreds of fields. It keeps those that were used last, up to a
// number of bytes. It is safe for concurrent use.
type summaryCache struct {
	limit int // in bytes

	mu        sync.Mutex
	summaries *lru.Cache // of herb.Dataset, by summaryKey
	size      int        // in bytes
}

// summaryKey identifies a summary. A version that is published again may have another description.
type summaryKey struct {
	ref       herb.Ref
	version   string
	published int64 // Unix time in nanoseconds
	details   bool
}

func newSummaryKey(v herb.LiveVersion, details bool) summaryKey {
	return summaryKey{v.Ref, v.Version, v.Published.UnixNano(), details}
}

func newSummaryCache(limit int) *summaryCache {
	c := &summaryCache{limit: limit, summaries: lru.New(0)} // eviction is by bytes, not by number
	c.summaries.OnEvicted = func(_ lru.Key, summary any) { c.size -= summary.(*herb.Dataset).Size() }
	return c
}

// get returns the summary of a version, with details or, if they are not required, without.
func (c *summaryCache) get(v herb.LiveVersion, details bool) (herb.Dataset, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.summaries.Get(newSummaryKey(v, true))
	if !ok && !details {
		found, ok = c.summaries.Get(newSummaryKey(v, false))
	}
	if !ok {
		return herb.Dataset{}, false
	}
	return *found.(*herb.Dataset), true
}

// add adds the summary of a version, unless it would replace most of the others.
func (c *summaryCache) add(v herb.LiveVersion, details bool, d herb.Dataset) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key, size := newSummaryKey(v, details), d.Size()
	if _, ok := c.summaries.Get(key); ok || size > c.limit/4 {
		return
	}
	c.summaries.Add(key, &d)
	for c.size += size; c.size > c.limit; {
		c.summaries.RemoveOldest()
	}
}

// summarize returns a description for lists of datasets: without internal fields, with the start of
// a long description, and of the descriptor only members that describe the dataset to a reader.
func summarize(d herb.Dataset) herb.Dataset {
	const largest = 16 << 10 // bytes of a member of the descriptor
	d = publicDescription(d)
	d.Description = herb.Clip(d.Description, herb.MaxListed)
	d.Descriptor = d.Descriptor.Summary(largest)
	return d
}
