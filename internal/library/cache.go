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

// cache is what a node knows of the files that it has and of those that it fetches. Library.mu guards what is not said to
// be safe.
type cache struct {
	files     map[string]int64 // sizes of the files in Dir, by version
	stored    map[string]bool  // versions that are known to be among Blobs
	fetches   map[herb.Ref]*fetch
	failures  map[herb.Ref]*failure
	overLimit bool // it was told that there is more than there should be

	lastCollected time.Time // when objects were last listed

	epoch         atomic.Int64  // counts the seconds, more or less; safe
	prefetchSlots chan struct{} // has room for the fetches that nobody waits for; safe
	requestSlots  chan struct{} // and for the others; safe
	start         func(func(context.Context))
	cancel        func()
	wg            sync.WaitGroup
	closed        bool

	saving    sync.Mutex
	savedCopy []byte // what is in catalogueFile; guarded by writing
}

// How many fetches run at once.
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

// spawn runs something until it ends or the library is closed; false: it is closed.
func (c *cache) spawn(do func(context.Context)) bool {
	if c.closed {
		return false
	}
	c.start(do)
	return true
}

// stopFetching gives up what is fetched and waits for the end of it.
func (l *Library) stopFetching() {
	l.mu.Lock()
	l.cache.closed = true
	l.mu.Unlock()
	l.cache.cancel()
	l.cache.wg.Wait()
}

// slot waits until there is room for a fetch. One that requests wait for does not queue behind those that nobody has
// asked for.
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

// touch takes down that a volume is used. It is on the path of every request: most of them find it done.
func (c *cache) touch(v *openVersion) {
	if now := c.epoch.Load(); v.lastUsed.Load() != now {
		v.lastUsed.Store(now)
	}
}

// pending returns the failure because of which the live version of a dataset is not to be fetched now; nil: there is none.
func (c *cache) pendingFailure(e *entry, now time.Time) *failure {
	if f := c.failures[e.live.Ref]; f != nil && f.version == e.live.Version && now.Before(f.retryAt) {
		return f
	}
	return nil
}

// size is how many bytes there are, and will be when all fetches are done.
func (c *cache) size() (here, coming int64) {
	for _, n := range c.files {
		here += n
	}
	for _, f := range c.fetches {
		coming += c.missingBytes(f.dataset)
	}
	return here, coming
}

// extra is how many bytes a version takes that are not here yet.
func (c *cache) missingBytes(d herb.Dataset) int64 {
	if _, ok := c.files[d.Version]; ok || d.File == nil {
		return 0
	}
	return d.File.Size
}

// takeStock finds out which files are here.
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
			if info, err := e.Info(); err == nil { // else it is gone by now
				files[version] = info.Size()
			}
		}
	}
	l.cache.files = files
	return nil
}

// tend sees to the cache, once a second: it fetches what should be here, and removes what has no room. Run alone calls it:
// a command on the folder of a server does not know what that has in use.
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
	here, coming := l.cache.size()
	for _, e := range closed { // ahead of requests, as long as nothing has to go for it
		n := l.cache.missingBytes(e.live)
		if l.opts.CacheSize == 0 || n == 0 || here+coming+n <= l.opts.CacheSize {
			l.startFetch(e)
			coming += n
		}
	}
	l.evictCache()
}

// held is a file of the cache that could be removed.
type evictable struct {
	version  string
	size     int64
	entry    *entry // of which it is the live version; nil: of none
	lastUsed int64
}

// trim removes files until no more bytes are left than there should be: first those of versions that are not live, then
// those that were not used for longest. It spares what cannot be fetched again, what is in use, and what was used last.
// l.mu is held.
func (l *Library) evictCache() {
	here, _ := l.cache.size()
	if l.opts.CacheSize == 0 || here <= l.opts.CacheSize {
		l.cache.overLimit = false
		return
	}
	for _, h := range l.evictionOrder() {
		if here <= l.opts.CacheSize {
			break
		}
		if h.entry != nil && h.entry.open != nil {
			l.setOpen(h.entry.live.Ref, nil)
		}
		if err := l.opts.FS.RemoveAll(l.file(h.version)); err != nil {
			l.opts.Log.Warn("a file was not removed from the cache", "file", filepath.Base(l.file(h.version)), "err", err)
			continue
		}
		delete(l.cache.files, h.version)
		here -= h.size
		l.opts.Log.Debug("removed from the cache", "version", h.version, "bytes", h.size, "live", h.entry != nil)
	}
	if over := here > l.opts.CacheSize; over != l.cache.overLimit {
		if l.cache.overLimit = over; over {
			l.opts.Log.Warn("the cache is larger than it should be, because of what is in use or larger than all of it",
				"bytes", here, "limit", l.opts.CacheSize)
		}
	}
}

// removable returns what may be removed, first to last. l.mu is held.
func (l *Library) evictionOrder() []evictable {
	spared := map[string]bool{} // versions
	live := map[string]*entry{}
	var last *entry
	for _, f := range l.cache.fetches {
		spared[f.dataset.Version] = true
	}
	for _, e := range l.live.Load().entries {
		live[e.live.Version] = e
		if e.open == nil {
			continue
		}
		// A version that is listed in the place of a later one may be all that there is to list.
		if e.open.Holders() > 1 || !e.current() {
			spared[e.open.dataset.Version] = true
		}
		if last == nil || e.open.lastUsed.Load() > last.open.lastUsed.Load() {
			last = e
		}
	}
	if last != nil {
		spared[last.open.dataset.Version] = true
	}
	var all []evictable
	for version, size := range l.cache.files {
		e := live[version]
		if spared[version] || !l.cache.stored[version] && (e == nil || e.live.File == nil) {
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
