package app

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
)

// Limits of the garbage collector of a server. Its heap is so small that at the default percentage
// of 100 it is collected after every few hundred requests, which takes a third of the processor
// time. Instead, some memory may be allocated before the next collection: minHeadroom, and up to
// maxHeadroom while many requests arrive. A constant headroom is either too small for many requests
// or takes half as much memory again as the catalogue of ten thousand datasets.
const (
	startPercent = 800 // until the first collection: a start allocates much and ends soon
	minPercent   = 50
	minHeap      = 4 << 20 // Go's percentages refer to a heap of at least this size
	minHeadroom  = 16 << 20
	maxHeadroom  = 128 << 20
	manyRequests = 1000 // between two collections
)

// collector adjusts the GC percentage of the process after each garbage collection.
type collector struct {
	requests atomic.Int64 // completed

	mu       sync.Mutex
	seen     int64  // requests at the last collection
	headroom uint64 // bytes
	limit    uint64 // of headroom
	percent  int
	before   int // percentage to restore
	stopped  bool
}

// relaxGC starts to adjust the GC percentage of a server with a memory budget, unless the
// environment configures the garbage collector.
func relaxGC(memory int64) *collector {
	c := &collector{headroom: minHeadroom, limit: uint64(min(max(memory/8, minHeadroom), maxHeadroom)), percent: startPercent}
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		c.stopped = true
		return c
	}
	c.before = debug.SetGCPercent(c.percent)
	c.adjustAfterNext()
	return c
}

// adjustAfterNext calls adjust after the next garbage collection.
func (c *collector) adjustAfterNext() { runtime.AddCleanup(new([64]byte), (*collector).adjust, c) }

// adjust sets the percentage to that of the headroom, which doubles while many requests arrive.
func (c *collector) adjust() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return
	}
	now := c.requests.Load()
	if now-c.seen >= manyRequests {
		c.headroom = min(c.headroom*2, c.limit)
	} else {
		c.headroom = max(c.headroom/2, minHeadroom)
	}
	c.seen = now
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	percent := max(int(c.headroom*100/max(live[0].Value.Uint64(), minHeap)), minPercent)
	if percent != c.percent { // setting it stops the world
		c.percent = percent
		debug.SetGCPercent(percent)
	}
	c.adjustAfterNext()
}

// stop restores the percentage.
func (c *collector) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped {
		c.stopped = true
		debug.SetGCPercent(c.before)
	}
}
