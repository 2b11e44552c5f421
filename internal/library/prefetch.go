package library

import (
	"cmp"
	"context"
	"slices"

	"herbarium/internal/herb"
)

// maintain fetches versions that should be local and evicts versions beyond the size limit,
// once a second. Only Run calls it: a command that shares the folder of a server does not know
// which versions that server uses.
func (l *fetcher) maintain(ctx context.Context) {
	if l.shared() {
		l.loadSizes(ctx)
	}
	l.cache.evict(l.startFetches())
}

// startFetches closes named versions that are idle and starts fetching versions that should be
// local. It returns the files to evict.
func (l *fetcher) startFetches() []evictableFile {
	l.table.mu.Lock()
	defer l.table.unlock()
	l.table.epoch.Add(1)
	l.table.closeIdle()
	cached, pending := l.cacheSize()
	running := 0
	for _, e := range l.table.sorted {
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
// unless closeUnused would close others for it. table.mu is held.
func (l *fetcher) prefetch(e *entry, used int64) bool {
	if e.open != nil || l.shared() && !e.described {
		return false
	}
	fits := l.cache.fits(used + e.size)
	if l.cache.has(e.Version) || !l.shared() {
		fits = len(l.table.sorted) <= maxSmall && l.table.openSize <= l.table.openMax/2
	}
	return fits && l.startFetch(e)
}

// loadSizes reads the descriptions of versions whose size is unknown. As a result, this node has
// copies of all descriptions and can fetch any version while the catalogue is down.
func (l *fetcher) loadSizes(ctx context.Context) {
	var unknown []herb.LiveVersion
	l.table.mu.RLock()
	for _, e := range l.table.sorted {
		if !e.described {
			unknown = append(unknown, e.LiveVersion)
		}
	}
	l.table.mu.RUnlock()
	for _, v := range unknown {
		d, err := l.describe(ctx, v)
		if herb.CodeOf(err) == herb.CodeUnavailable || ctx.Err() != nil {
			return // the next call continues
		}
		l.table.mu.Lock()
		if e := l.table.entries[versionKey{ref: v.Ref}]; err == nil && e != nil && e.Version == v.Version {
			e.described = true
			if d.File != nil {
				e.size, e.index = d.File.Size, d.File.Index
			}
		}
		l.table.mu.Unlock()
	}
}

// beginEviction closes versions and returns their files until the cache without them is within its
// limit: first files of versions that are not live, then the least recently used. It never returns
// files that cannot be fetched again, are in use, or were used last. Fetches that start before the
// files are removed wait. table.mu is held.
func (l *fetcher) beginEviction() (files []evictableFile) {
	cached, _ := l.cacheSize()
	isOver := func() bool { return !l.cache.fits(cached) }
	if isOver() {
		for _, f := range l.evictable() {
			if !isOver() {
				break
			}
			if f.entry != nil && f.entry.isOpen() {
				l.table.setOpen(f.entry, nil)
			}
			cached -= f.size
			files = append(files, f)
		}
	}
	if isOver() && !l.cache.overLimit {
		l.table.after = append(l.table.after, func() {
			l.log.Warn("cache exceeds its limit; remaining files are in use", "bytes", cached, "limit", l.cache.limit)
		})
	}
	l.cache.overLimit = isOver()
	if len(files) > 0 {
		l.cache.beginEviction()
	}
	return files
}

// cacheSize returns the bytes in the cache and the bytes that running fetches will add. table.mu is
// held.
func (l *fetcher) cacheSize() (cached, pending int64) {
	cached = l.cache.size()
	for _, e := range l.table.entries {
		if e.fetch != nil {
			pending += l.missingBytes(e)
		}
	}
	return cached, pending
}

// missingBytes returns the size of the live version's file if it is not in the cache, else 0.
// table.mu is held.
func (l *fetcher) missingBytes(e *entry) int64 {
	if l.cache.has(e.Version) {
		return 0
	}
	return e.size
}

// evictable returns the files that may be evicted, first to last. table.mu is held.
func (l *fetcher) evictable() []evictableFile {
	users, pinned := map[string]*entry{}, map[string]bool{}
	var last *openVersion
	for _, e := range l.table.entries {
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
	files := l.cache.evictable(users, pinned)
	slices.SortFunc(files, func(a, b evictableFile) int {
		return cmp.Or(cmp.Compare(a.lastUsed, b.lastUsed), cmp.Compare(a.name, b.name))
	})
	return files
}
