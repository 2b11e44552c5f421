package library

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// cache is the state of a node's local files and fetches. Fields are guarded by Library.mu unless
// marked safe.
type cache struct {
	files     map[string]int64 // sizes of the segment files in Dir, by name
	stored    map[string]bool  // names of files known to be stored in Blobs
	listed    bool             // stored has all objects, but the newest
	changed   map[string]bool  // names that were added to or removed from files during a scan; nil unless one runs
	overLimit bool             // the limit is exceeded, which was logged
	evicted   chan struct{}    // closed unless files are being evicted; fetches wait for it

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
		evicted:       make(chan struct{}),
		prefetchSlots: make(chan struct{}, maxPrefetches),
		requestSlots:  make(chan struct{}, maxRequestedFetches),
	}
	close(c.evicted)
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// acquireSlot waits for one of the slots for a fetch. Additional slots are for a fetch that
// requests wait for, so that it does not queue behind others.
func acquireSlot(ctx context.Context, f *fetch, slots, requested chan struct{}) (release func(), err error) {
	waiting, additional := f.requested, chan struct{}(nil) // nil blocks
	for {
		select {
		case slots <- struct{}{}:
			return func() { <-slots }, nil
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

// add records a segment or a Parquet file in Dir. Library.mu is held.
func (c *cache) add(name string, size int64, stored bool) {
	c.files[name], c.stored[name] = size, stored
	c.noteChange(name)
}

// remove records that a file was removed from Dir. Library.mu is held.
func (c *cache) remove(name string) {
	delete(c.files, name)
	c.noteChange(name)
}

func (c *cache) noteChange(name string) {
	if c.changed != nil {
		c.changed[name] = true
	}
}

// scanCache lists the files in Dir. What is added or removed meanwhile takes precedence.
func (l *Library) scanCache() error {
	l.mu.Lock()
	l.cache.changed = map[string]bool{}
	l.mu.Unlock()
	entries, err := l.opts.FS.ReadDir(l.opts.Dir)
	if err != nil {
		return err
	}
	found := map[string]int64{}
	for _, e := range entries {
		if f, ok := store.ParseVersionFile(e.Name()); ok && isCacheable(f) {
			if info, err := e.Info(); err == nil { // otherwise it was removed meanwhile
				found[e.Name()] = info.Size()
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for name := range l.cache.changed {
		if size, ok := l.cache.files[name]; ok {
			found[name] = size
		} else {
			delete(found, name)
		}
	}
	l.cache.files, l.cache.changed = found, nil
	return nil
}

// isCacheable reports whether the cache counts and evicts files of a kind.
func isCacheable(f store.VersionFile) bool { return f.Kind == store.SegmentKind || f.IsDerived() }

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
	l.cache.add(name, size, true)
}

// SetStored records which segment files are in Blobs. Eviction spares the others.
func (l *Library) SetStored(names map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cache.stored, l.cache.listed = names, true
}

// maintainCache fetches versions that should be local and evicts versions beyond the size limit,
// once a second. Only Run calls it: a command that shares the folder of a server does not know
// which versions that server uses.
func (l *Library) maintainCache(ctx context.Context) {
	if l.shared() {
		l.loadSizes(ctx)
	}
	l.evictCache(l.startFetches())
}

// startFetches closes named versions that are idle and starts fetching versions that should be
// local. It returns the files to evict.
func (l *Library) startFetches() []evictableFile {
	l.mu.Lock()
	defer l.unlock()
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
	return l.beginEviction()
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
			e.described = true
			if d.File != nil {
				e.size, e.index = d.File.Size, d.File.Index
			}
		}
		l.mu.Unlock()
	}
}

// beginEviction closes versions and returns their files until the cache without them is within its
// limit: first files of versions that are not live, then the least recently used. It never returns
// files that cannot be fetched again, are in use, or were used last. Fetches that start before the
// files are removed wait. l.mu is held.
func (l *Library) beginEviction() (files []evictableFile) {
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
			cached -= l.cache.files[f.name]
			files = append(files, f)
		}
	}
	if isOver() && !l.cache.overLimit {
		l.opts.Log.Warn("cache exceeds its limit; remaining files are in use", "bytes", cached, "limit", l.opts.CacheSize)
	}
	l.cache.overLimit = isOver()
	if len(files) > 0 {
		l.cache.evicted = make(chan struct{})
	}
	return files
}

// evictCache removes the files that beginEviction has returned.
func (l *Library) evictCache(files []evictableFile) {
	if len(files) == 0 {
		return
	}
	var removed []evictableFile
	for _, f := range files {
		if err := l.opts.FS.RemoveAll(filepath.Join(l.opts.Dir, f.name)); err != nil {
			l.opts.Log.Warn("cannot evict file from cache; will retry", "file", f.name, "err", err)
			continue
		}
		removed = append(removed, f)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range removed {
		size := l.cache.files[f.name]
		l.cache.remove(f.name)
		l.counters.evicted.Add(1)
		l.counters.evictedBytes.Add(size)
		l.opts.Log.Debug("evicted file from cache", "file", f.name, "bytes", size, "used", f.entry != nil)
	}
	close(l.cache.evicted)
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
		file, _ := store.ParseVersionFile(name)
		if file.IsDerived() && file.Kind != store.RebuiltKind { // is fetched or built again
			files = append(files, evictableFile{name, nil, -2})
			continue
		}
		e := users[file.Version]
		if pinned[file.Version] || !l.cache.stored[name] && (e == nil || e.size == 0) {
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
