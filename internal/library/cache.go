package library

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"herbarium/internal/herb"
)

// cache is the state of a node's local files and fetches. Fields are guarded by Library.mu unless marked safe.
type cache struct {
	files     map[string]int64 // file sizes in Dir, by version
	stored    map[string]bool  // versions known to be stored in Blobs
	fetches   map[herb.Ref]*fetch
	failures  map[herb.Ref]*failure
	overLimit bool // the limit is exceeded, which was logged

	lastCollected time.Time // last time Blobs was listed

	epoch         atomic.Int64  // clock of lastUsed, about one tick per second; safe
	prefetchSlots chan struct{} // limits fetches that no request waits for; safe
	requestSlots  chan struct{} // additional slots for fetches that requests wait for; safe
	start         func(func(context.Context))
	cancel        func()
	wg            sync.WaitGroup
	closed        bool

	saving    sync.Mutex
	savedCopy []byte // content of catalogueFile; guarded by saving
}

// Limits of concurrent fetches.
const (
	maxPrefetches       = 2
	maxRequestedFetches = 4
)

func newCache() *cache {
	ctx, cancel := context.WithCancel(context.Background())
	c := &cache{
		files:         map[string]int64{},
		stored:        map[string]bool{},
		fetches:       map[herb.Ref]*fetch{},
		failures:      map[herb.Ref]*failure{},
		prefetchSlots: make(chan struct{}, maxPrefetches),
		requestSlots:  make(chan struct{}, maxRequestedFetches),
		cancel:        cancel,
	}
	c.start = func(do func(context.Context)) { c.wg.Go(func() { do(ctx) }) }
	return c
}

// spawn runs do in a goroutine until it ends or the library is closed. It reports false if the library is closed.
func (c *cache) spawn(do func(context.Context)) bool {
	if c.closed {
		return false
	}
	c.start(do)
	return true
}

// stopFetching cancels all fetches and waits for them to end.
func (l *Library) stopFetching() {
	l.mu.Lock()
	l.cache.closed = true
	l.mu.Unlock()
	l.cache.cancel()
	l.cache.wg.Wait()
}

// acquireSlot waits for a slot for a fetch. A fetch that requests wait for does not queue behind prefetches.
func (c *cache) acquireSlot(ctx context.Context, f *fetch) (release func(), err error) {
	ahead, asked := func() { <-c.prefetchSlots }, func() { <-c.requestSlots }
	select {
	case c.prefetchSlots <- struct{}{}:
		return ahead, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-f.requested:
	}
	select {
	case c.requestSlots <- struct{}{}:
		return asked, nil
	case c.prefetchSlots <- struct{}{}:
		return ahead, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// touch records that a version is used. It is on the path of every request and mostly finds this done.
func (c *cache) touch(v *openVersion) {
	if now := c.epoch.Load(); v.lastUsed.Load() != now {
		v.lastUsed.Store(now)
	}
}

// pendingFailure returns the failure that defers fetching the live version of a dataset; nil if there is none.
func (c *cache) pendingFailure(e *entry, now time.Time) *failure {
	if f := c.failures[e.live.Ref]; f != nil && f.version == e.live.Version && now.Before(f.retryAt) {
		return f
	}
	return nil
}

// size returns the bytes in the cache and the bytes that pending fetches will add.
func (c *cache) size() (cached, pending int64) {
	for _, n := range c.files {
		cached += n
	}
	for _, f := range c.fetches {
		pending += c.missingBytes(f.dataset)
	}
	return cached, pending
}

// missingBytes returns the size of a version's file if it is not in the cache, else 0.
func (c *cache) missingBytes(d herb.Dataset) int64 {
	if _, ok := c.files[d.Version]; ok || d.File == nil {
		return 0
	}
	return d.File.Size
}

// scanCache lists the files in Dir.
func (l *Library) scanCache() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	entries, err := l.opts.FS.ReadDir(l.opts.Dir)
	if err != nil {
		return err
	}
	files := map[string]int64{}
	for _, e := range entries {
		if version, ok := strings.CutSuffix(e.Name(), fileSuffix); ok {
			if info, err := e.Info(); err == nil { // otherwise it was removed meanwhile
				files[version] = info.Size()
			}
		}
	}
	l.cache.files = files
	return nil
}

// maintainCache fetches versions that should be local and evicts versions beyond the size limit, once a second. Only Run
// calls it: a command that shares the folder of a server does not know which versions that server uses.
func (l *Library) maintainCache() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cache.epoch.Add(1)
	var closed []*entry
	for _, e := range l.live.Load().entries {
		switch {
		case e.open != nil:
			l.fetchIfOutdated(e)
		case l.cache.fetches[e.live.Ref] == nil && l.cache.pendingFailure(e, l.opts.Now()) == nil:
			closed = append(closed, e)
		}
	}
	slices.SortFunc(closed, func(a, b *entry) int { return a.live.Ref.Compare(b.live.Ref) })
	cached, pending := l.cache.size()
	for _, e := range closed { // prefetch only what fits without eviction
		n := l.cache.missingBytes(e.live)
		if l.opts.CacheSize == 0 || n == 0 || cached+pending+n <= l.opts.CacheSize {
			l.startFetch(e)
			pending += n
		}
	}
	l.evictCache()
}

// evictable is a file of the cache that may be removed.
type evictable struct {
	version  string
	size     int64
	entry    *entry // whose live version it is; nil if it is not live
	lastUsed int64
}

// evictCache removes files until the cache is within its limit: first versions that are not live, then the least recently
// used. It never removes files that cannot be fetched again, are in use, or were used last. l.mu is held.
func (l *Library) evictCache() {
	cached, _ := l.cache.size()
	if l.opts.CacheSize == 0 || cached <= l.opts.CacheSize {
		l.cache.overLimit = false
		return
	}
	for _, h := range l.evictionOrder() {
		if cached <= l.opts.CacheSize {
			break
		}
		if h.entry != nil && h.entry.open != nil {
			l.setOpen(h.entry.live.Ref, nil)
		}
		if err := l.opts.FS.RemoveAll(l.file(h.version)); err != nil {
			l.opts.Log.Warn("cannot evict file from cache; will retry", "file", filepath.Base(l.file(h.version)), "err", err)
			continue
		}
		delete(l.cache.files, h.version)
		cached -= h.size
		l.opts.Log.Debug("evicted file from cache", "version", h.version, "bytes", h.size, "live", h.entry != nil)
	}
	if over := cached > l.opts.CacheSize; over != l.cache.overLimit {
		if l.cache.overLimit = over; over {
			l.opts.Log.Warn("cache exceeds its limit; remaining files are in use",
				"bytes", cached, "limit", l.opts.CacheSize)
		}
	}
}

// evictionOrder returns the files that may be evicted, first to last. l.mu is held.
func (l *Library) evictionOrder() []evictable {
	pinned := map[string]bool{} // versions
	live := map[string]*entry{}
	var last *entry
	for _, f := range l.cache.fetches {
		pinned[f.dataset.Version] = true
	}
	for _, e := range l.live.Load().entries {
		live[e.live.Version] = e
		if e.open == nil {
			continue
		}
		// An older version that stands in for the live one may be all there is to list.
		if e.open.Holders() > 1 || !e.current() {
			pinned[e.open.dataset.Version] = true
		}
		if last == nil || e.open.lastUsed.Load() > last.open.lastUsed.Load() {
			last = e
		}
	}
	if last != nil {
		pinned[last.open.dataset.Version] = true
	}
	var all []evictable
	for version, size := range l.cache.files {
		e := live[version]
		if pinned[version] || !l.cache.stored[version] && (e == nil || e.live.File == nil) {
			continue
		}
		h := evictable{version: version, size: size, entry: e, lastUsed: -2}
		if e != nil {
			if h.lastUsed = -1; e.open != nil {
				h.lastUsed = e.open.lastUsed.Load()
			}
		}
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b evictable) int {
		return cmp.Or(cmp.Compare(a.lastUsed, b.lastUsed), strings.Compare(a.version, b.version))
	})
	return all
}
