package library

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// cache is the state of a node's local files and fetches. Fields are guarded by Library.mu unless
// marked safe.
type cache struct {
	files     map[string]int64 // sizes of the segment files in Dir, by name
	stored    map[string]bool  // names of segment files known to be stored in Blobs
	overLimit bool             // the limit is exceeded, which was logged

	epoch         atomic.Int64    // clock of lastUsed, about one tick per second; safe
	prefetchSlots chan struct{}   // limits fetches that no request waits for; safe
	requestSlots  chan struct{}   // additional slots for fetches that requests wait for; safe
	ctx           context.Context // of fetches; done when the library is closed; safe
	cancel        func()
	running       sync.WaitGroup
}

// Limits of concurrent fetches.
const (
	maxPrefetches       = 2
	maxRequestedFetches = 4
	maxFetches          = 100 // that wait for their turn, unless requests wait for them
)

func newCache() *cache {
	c := &cache{
		files:         map[string]int64{},
		stored:        map[string]bool{},
		prefetchSlots: make(chan struct{}, maxPrefetches),
		requestSlots:  make(chan struct{}, maxRequestedFetches),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// acquireSlot waits for one of the slots for a fetch. Those of requested are for a fetch that
// requests wait for, so that it does not queue behind others.
func acquireSlot(ctx context.Context, f *fetch, any, requested chan struct{}) (release func(), err error) {
	waiting, additional := f.requested, chan struct{}(nil) // nil blocks
	for {
		select {
		case any <- struct{}{}:
			return func() { <-any }, nil
		case additional <- struct{}{}:
			return func() { <-requested }, nil
		case <-waiting:
			waiting, additional = nil, requested
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// cacheSize returns the bytes in the cache and the bytes that running fetches will add. l.mu is
// held.
func (l *Library) cacheSize() (cached, pending int64) {
	for _, n := range l.cache.files {
		cached += n
	}
	for _, e := range l.entries {
		if e.fetch != nil {
			pending += l.missingBytes(e)
		}
	}
	return cached, pending
}

// missingBytes returns the size of the live version's file if it is not in the cache, else 0. l.mu
// is held.
func (l *Library) missingBytes(e *entry) int64 {
	if l.isCached(e.Version) {
		return 0
	}
	return e.size
}

// isCached reports whether a file that lists a version is in the cache. l.mu is held.
func (l *Library) isCached(version string) bool {
	_, published := l.cache.files[store.SegmentFile(version)]
	_, rebuilt := l.cache.files[RebuiltName(version)]
	return published || rebuilt
}

// scanCache lists the files in Dir.
func (l *Library) scanCache() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	entries, err := l.opts.FS.ReadDir(l.opts.Dir)
	if err != nil {
		return err
	}
	clear(l.cache.files)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), store.SegmentSuffix) || strings.HasSuffix(e.Name(), store.ParquetSuffix) {
			if info, err := e.Info(); err == nil { // otherwise it was removed meanwhile
				l.cache.files[e.Name()] = info.Size()
			}
		}
	}
	return nil
}

// RescanCache lists the files in Dir again after some were removed, and saves the last known
// description of the mutable dataset.
func (l *Library) RescanCache() error {
	err := l.scanCache()
	l.refresh.Lock()
	defer l.refresh.Unlock()
	l.saveCatalogueCopy()
	return err
}

// AddFile records a segment file that is in Dir and in Blobs.
func (l *Library) AddFile(name string, size int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cache.files[name], l.cache.stored[name] = size, true
}

// ForgetFiles records that the files of a version were removed from Dir.
func (l *Library) ForgetFiles(version string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.cache.files, func(name string, _ int64) bool { return strings.HasPrefix(name, version+".") })
}

// SetStored records which segment files are in Blobs. Eviction spares the others.
func (l *Library) SetStored(names map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cache.stored = names
}

// maintainCache fetches versions that should be local and evicts versions beyond the size limit,
// once a second. Only Run calls it: a command that shares the folder of a server does not know
// which versions that server uses.
func (l *Library) maintainCache(ctx context.Context) {
	if l.shared() {
		l.loadSizes(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cache.epoch.Add(1)
	l.closeIdle()
	cached, pending := l.cacheSize()
	running := 0
	for _, e := range l.sorted {
		l.fetchIfOutdated(e)
		if running < maxFetches && l.prefetch(e, cached+pending) {
			pending += l.missingBytes(e)
		}
		if e.fetch != nil {
			running++
		}
	}
	l.evictCache()
}

// maxSmall is the number of datasets up to which a server opens them in advance, so that files that
// cannot be opened are reported and the first requests do not wait.
const maxSmall = 100

// prefetch starts fetching a version before it is requested, if it fits into the cache without
// eviction, and reports whether it did. A local file is opened in advance in small libraries only,
// unless closeUnused would close others for it. l.mu is held.
func (l *Library) prefetch(e *entry, used int64) bool {
	if e.open != nil || l.shared() && !e.described {
		return false
	}
	fits := l.opts.CacheSize == 0 || used+e.size <= l.opts.CacheSize
	if l.isCached(e.Version) || !l.shared() {
		fits = len(l.sorted) <= maxSmall && l.openSize <= l.opts.OpenSize/2
	}
	return fits && l.startFetch(e)
}

// loadSizes reads the descriptions of versions whose size is unknown. As a result, this node has
// copies of all descriptions and can fetch any version while the catalogue is down.
func (l *Library) loadSizes(ctx context.Context) {
	var unknown []herb.LiveVersion
	l.mu.RLock()
	for _, e := range l.sorted {
		if !e.described {
			unknown = append(unknown, e.LiveVersion)
		}
	}
	l.mu.RUnlock()
	for _, v := range unknown {
		d, err := l.describeVersion(ctx, v)
		if herb.CodeOf(err) == herb.CodeUnavailable || ctx.Err() != nil {
			return // the next call continues
		}
		l.mu.Lock()
		if e := l.entries[versionKey{ref: v.Ref}]; err == nil && e != nil && e.Version == v.Version {
			if e.described = true; d.File != nil {
				e.size = d.File.Size
			}
		}
		l.mu.Unlock()
	}
}

// evictCache removes files until the cache is within its limit: first versions that are not live,
// then the least recently used. It never removes files that cannot be fetched again, are in use, or
// were used last. l.mu is held.
func (l *Library) evictCache() {
	cached, _ := l.cacheSize()
	isOver := func() bool { return l.opts.CacheSize > 0 && cached > l.opts.CacheSize }
	if isOver() {
		for _, f := range l.evictable() {
			if !isOver() {
				break
			}
			if f.entry != nil && f.entry.isOpen() {
				l.setOpen(f.entry, nil)
			}
			if err := l.opts.FS.RemoveAll(filepath.Join(l.opts.Dir, f.name)); err != nil {
				l.opts.Log.Warn("cannot evict file from cache; will retry", "file", f.name, "err", err)
				continue
			}
			size := l.cache.files[f.name]
			delete(l.cache.files, f.name)
			cached -= size
			l.counters.evicted.Add(1)
			l.counters.evictedBytes.Add(size)
			l.opts.Log.Debug("evicted file from cache", "file", f.name, "bytes", size, "used", f.entry != nil)
		}
	}
	if isOver() && !l.cache.overLimit {
		l.opts.Log.Warn("cache exceeds its limit; remaining files are in use", "bytes", cached, "limit", l.opts.CacheSize)
	}
	l.cache.overLimit = isOver()
}

// evictableFile is a file that may be removed from the cache.
type evictableFile struct {
	name     string
	entry    *entry // whose live or named version it is; nil if there is none
	lastUsed int64  // -2: no entry; -1: not open
}

// evictable returns the files that may be evicted, first to last. l.mu is held.
func (l *Library) evictable() (files []evictableFile) {
	users, pinned := map[string]*entry{}, map[string]bool{}
	var last *openVersion
	for _, e := range l.entries {
		if users[e.Version] == nil || !e.named {
			users[e.Version] = e
		}
		if e.fetch != nil {
			pinned[e.fetch.version.Version] = true
		}
		v := e.open
		if v == nil {
			continue
		}
		// An older version that is listed instead of the live one may be the only one.
		if v.References() > 1 || !e.isOpen() {
			pinned[v.dataset.Version] = true
		}
		if last == nil || v.lastUsed.Load() > last.lastUsed.Load() {
			last = v
		}
	}
	if last != nil {
		pinned[last.dataset.Version] = true
	}
	for name := range l.cache.files {
		if strings.HasSuffix(name, store.ParquetSuffix) { // is fetched or built again
			if l.cache.stored[name] {
				files = append(files, evictableFile{name, nil, -2})
			}
			continue
		}
		version, _, _ := store.ParseSegmentFile(name)
		e := users[version]
		if pinned[version] || !l.cache.stored[name] && (e == nil || e.size == 0) {
			continue
		}
		f := evictableFile{name, e, -2}
		if e != nil {
			f.lastUsed = -1
		}
		if e != nil && e.open != nil {
			f.lastUsed = e.open.lastUsed.Load()
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b evictableFile) int {
		return cmp.Or(cmp.Compare(a.lastUsed, b.lastUsed), cmp.Compare(a.name, b.name))
	})
	return files
}
