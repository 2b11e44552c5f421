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
	overLimit bool             // the limit is exceeded, which was logged

	epoch         atomic.Int64                // clock of lastUsed, about one tick per second; safe
	prefetchSlots chan struct{}               // limits fetches that no request waits for; safe
	requestSlots  chan struct{}               // additional slots for fetches that requests wait for; safe
	spawn         func(func(context.Context)) // runs a function until it ends or cancel is called
	cancel        func()
	running       sync.WaitGroup
	closed        bool

	saving    sync.Mutex
	savedCopy []byte // content of catalogueFile; guarded by saving
}

// Limits of concurrent fetches.
const (
	maxPrefetches       = 2
	maxRequestedFetches = 4
	maxFetches          = 100 // that wait for their turn, unless requests wait for them
)

func newCache() *cache {
	ctx, cancel := context.WithCancel(context.Background())
	c := &cache{
		files:         map[string]int64{},
		stored:        map[string]bool{},
		prefetchSlots: make(chan struct{}, maxPrefetches),
		requestSlots:  make(chan struct{}, maxRequestedFetches),
		cancel:        cancel,
	}
	c.spawn = func(do func(context.Context)) { c.running.Go(func() { do(ctx) }) }
	return c
}

// acquireSlot waits for a slot for a fetch. A fetch that requests wait for does not queue behind prefetches.
func (c *cache) acquireSlot(ctx context.Context, f *fetch) (release func(), err error) {
	requested, requestSlots := f.requested, chan struct{}(nil) // nil blocks
	for {
		select {
		case c.prefetchSlots <- struct{}{}:
			return func() { <-c.prefetchSlots }, nil
		case requestSlots <- struct{}{}:
			return func() { <-c.requestSlots }, nil
		case <-requested:
			requested, requestSlots = nil, c.requestSlots
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// touch records that a version is used. It is on the path of every request and mostly finds this done.
func (c *cache) touch(v *openVersion) {
	if now := c.epoch.Load(); v.lastUsed.Load() != now {
		v.lastUsed.Store(now)
	}
}

// cacheSize returns the bytes in the cache and the bytes that running fetches will add. l.mu is held.
func (l *Library) cacheSize() (cached, pending int64) {
	for _, n := range l.cache.files {
		cached += n
	}
	for e := range l.allEntries() {
		if e.fetch != nil {
			pending += l.missingBytes(e)
		}
	}
	return cached, pending
}

// missingBytes returns the size of the live version's file if it is not in the cache, else 0. l.mu is held.
func (l *Library) missingBytes(e *entry) int64 {
	if _, ok := l.cache.files[e.Version]; ok {
		return 0
	}
	return e.size
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
func (l *Library) maintainCache(ctx context.Context) {
	if l.shared() {
		l.learnSizes(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cache.epoch.Add(1)
	l.closeIdle()
	cached, pending := l.cacheSize()
	running, now := 0, l.opts.Now()
	for _, e := range l.sorted {
		l.fetchIfOutdated(e)
		if e.fetch != nil {
			running++
		}
		if running < maxFetches && l.shouldPrefetch(e, cached+pending, now) {
			l.startFetch(e)
			pending += l.missingBytes(e)
			running++
		}
	}
	l.evictCache()
}

// shouldPrefetch reports whether to fetch a version before it is requested: if it fits into the cache without eviction.
// A local file is opened in advance in small libraries only, unless closeUnused would close others for it. l.mu is held.
func (l *Library) shouldPrefetch(e *entry, used int64, now time.Time) bool {
	if l.cache.closed || e.open != nil || e.fetch != nil || e.deferred(now) || l.shared() && !e.described {
		return false
	}
	if _, local := l.cache.files[e.Version]; local || !l.shared() {
		return len(l.sorted) <= maxSmall && l.openSize <= maxOpenSize/2
	}
	return l.opts.CacheSize == 0 || used+e.size <= l.opts.CacheSize
}

// learnSizes reads the descriptions of versions whose size is unknown. As a result, this node has copies of all descriptions
// and can fetch any version while the catalogue is down.
func (l *Library) learnSizes(ctx context.Context) {
	var unknown []*entry
	var versions []herb.LiveVersion
	l.mu.RLock()
	for _, e := range l.sorted {
		if !e.described {
			unknown, versions = append(unknown, e), append(versions, e.LiveVersion)
		}
	}
	l.mu.RUnlock()
	for i, v := range versions {
		d, err := l.describeVersion(ctx, v)
		if herb.CodeOf(err) == herb.CodeUnavailable || ctx.Err() != nil {
			return // the next call continues
		}
		l.mu.Lock()
		if e := unknown[i]; err == nil && e.Version == v.Version {
			if e.described = true; d.File != nil {
				e.size = d.File.Size
			}
		}
		l.mu.Unlock()
	}
}

// evictable is a file of the cache that may be removed.
type evictable struct {
	version  string
	size     int64
	entry    *entry // whose live or named version it is; nil if there is none
	lastUsed int64
}

// evictCache removes files until the cache is within its limit: first versions that are not live, then the least recently
// used. It never removes files that cannot be fetched again, are in use, or were used last. l.mu is held.
func (l *Library) evictCache() {
	cached, _ := l.cacheSize()
	if l.opts.CacheSize == 0 || cached <= l.opts.CacheSize {
		l.cache.overLimit = false
		return
	}
	for _, h := range l.evictionOrder() {
		if cached <= l.opts.CacheSize {
			break
		}
		if h.entry != nil {
			l.setOpen(h.entry, nil)
		}
		if err := l.opts.FS.RemoveAll(l.file(h.version)); err != nil {
			l.opts.Log.Warn("cannot evict file from cache; will retry", "file", filepath.Base(l.file(h.version)), "err", err)
			continue
		}
		delete(l.cache.files, h.version)
		cached -= h.size
		l.opts.Log.Debug("evicted file from cache", "version", h.version, "bytes", h.size, "used", h.entry != nil)
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
	var last *openVersion
	for e := range l.allEntries() {
		if live[e.Version] == nil {
			live[e.Version] = e
		}
		if e.fetch != nil {
			pinned[e.fetch.version.Version] = true
		}
		v := e.open
		if v == nil {
			continue
		}
		// An older version that is listed instead of the live one may be the only one.
		if v.Holders() > 1 || !v.isLive(e) {
			pinned[v.dataset.Version] = true
		}
		if last == nil || v.lastUsed.Load() > last.lastUsed.Load() {
			last = v
		}
	}
	if last != nil {
		pinned[last.dataset.Version] = true
	}
	var all []evictable
	for version, size := range l.cache.files {
		e := live[version]
		if pinned[version] || !l.cache.stored[version] && (e == nil || e.size == 0) {
			continue
		}
		h := evictable{version: version, size: size, entry: e, lastUsed: -2}
		if e != nil {
			h.lastUsed = -1
			if e.open != nil {
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
