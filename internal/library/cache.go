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
	files    map[string]int64 // sizes of the files in Dir, by version
	stored   map[string]bool  // versions that are known to be among Blobs
	fetches  map[herb.Ref]*fetch
	failures map[herb.Ref]*failure
	over     bool // it was told that there is more than there should be

	collected time.Time // when objects were last listed

	epoch  atomic.Int64  // counts the seconds, more or less; safe
	ahead  chan struct{} // has room for the fetches that nobody waits for; safe
	asked  chan struct{} // and for the others; safe
	start  func(func(context.Context))
	cancel func()
	wg     sync.WaitGroup
	closed bool

	writing sync.Mutex
	written []byte // what is in catalogueFile; guarded by writing
}

// How many fetches run at once.
const (
	fetchesAhead = 2
	fetchesAsked = 4
)

func newCache() *cache {
	ctx, cancel := context.WithCancel(context.Background())
	c := &cache{
		files:    map[string]int64{},
		stored:   map[string]bool{},
		fetches:  map[herb.Ref]*fetch{},
		failures: map[herb.Ref]*failure{},
		ahead:    make(chan struct{}, fetchesAhead),
		asked:    make(chan struct{}, fetchesAsked),
		cancel:   cancel,
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
func (c *cache) slot(ctx context.Context, f *fetch) (release func(), err error) {
	ahead, asked := func() { <-c.ahead }, func() { <-c.asked }
	select {
	case c.ahead <- struct{}{}:
		return ahead, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-f.asked:
	}
	select {
	case c.asked <- struct{}{}:
		return asked, nil
	case c.ahead <- struct{}{}:
		return ahead, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// touch takes down that a volume is used. It is on the path of every request: most of them find it done.
func (c *cache) touch(v *volume) {
	if now := c.epoch.Load(); v.used.Load() != now {
		v.used.Store(now)
	}
}

// pending returns the failure because of which the live version of a dataset is not to be fetched now; nil: there is none.
func (c *cache) pending(e *entry, now time.Time) *failure {
	if f := c.failures[e.live.Ref]; f != nil && f.version == e.live.Version && now.Before(f.again) {
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
		coming += c.extra(f.dataset)
	}
	return here, coming
}

// extra is how many bytes a version takes that are not here yet.
func (c *cache) extra(d herb.Dataset) int64 {
	if _, ok := c.files[d.Version]; ok || d.File == nil {
		return 0
	}
	return d.File.Size
}

// takeStock finds out which files are here.
func (l *Library) takeStock() error {
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

// tend sees to the cache, once a second: it fetches what should be here, and removes what has no room.
func (l *Library) tend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cache.epoch.Add(1)
	var closed []*entry
	for _, e := range l.shelf.Load().entries {
		switch {
		case e.open != nil:
			l.update(e)
		case l.cache.fetches[e.live.Ref] == nil && l.cache.pending(e, l.opts.Now()) == nil:
			closed = append(closed, e)
		}
	}
	slices.SortFunc(closed, func(a, b *entry) int { return a.live.Ref.Compare(b.live.Ref) })
	here, coming := l.cache.size()
	for _, e := range closed { // ahead of requests, as long as nothing has to go for it
		n := l.cache.extra(e.live)
		if l.opts.CacheSize == 0 || n == 0 || here+coming+n <= l.opts.CacheSize {
			l.begin(e)
			coming += n
		}
	}
	l.trim()
}

// held is a file of the cache that could be removed.
type held struct {
	version string
	size    int64
	entry   *entry // of which it is the live version; nil: of none
	used    int64
}

// trim removes files until no more bytes are left than there should be: first those of versions that are not live, then
// those that were not used for longest. It spares what cannot be fetched again, what is in use, and what was used last.
// l.mu is held.
func (l *Library) trim() {
	here, _ := l.cache.size()
	if l.opts.CacheSize == 0 || here <= l.opts.CacheSize {
		l.cache.over = false
		return
	}
	for _, h := range l.removable() {
		if here <= l.opts.CacheSize {
			break
		}
		if h.entry != nil && h.entry.open != nil {
			l.put(h.entry.live.Ref, nil)
		}
		if err := l.opts.FS.RemoveAll(l.file(h.version)); err != nil {
			l.opts.Log.Warn("a file was not removed from the cache", "file", filepath.Base(l.file(h.version)), "err", err)
			continue
		}
		delete(l.cache.files, h.version)
		here -= h.size
		l.opts.Log.Debug("removed from the cache", "version", h.version, "bytes", h.size, "live", h.entry != nil)
	}
	if over := here > l.opts.CacheSize; over != l.cache.over {
		if l.cache.over = over; over {
			l.opts.Log.Warn("the cache is larger than it should be, because of what is in use or larger than all of it",
				"bytes", here, "limit", l.opts.CacheSize)
		}
	}
}

// removable returns what may be removed, first to last. l.mu is held.
func (l *Library) removable() []held {
	spared := map[string]bool{} // versions
	live := map[string]*entry{}
	var last *entry
	for _, f := range l.cache.fetches {
		spared[f.dataset.Version] = true
	}
	for _, e := range l.shelf.Load().entries {
		live[e.live.Version] = e
		if e.open == nil {
			continue
		}
		// A version that is listed in the place of a later one may be all that there is to list.
		if e.open.Holders() > 1 || !e.current() {
			spared[e.open.dataset.Version] = true
		}
		if last == nil || e.open.used.Load() > last.open.used.Load() {
			last = e
		}
	}
	if last != nil {
		spared[last.open.dataset.Version] = true
	}
	var all []held
	for version, size := range l.cache.files {
		e := live[version]
		if spared[version] || !l.cache.stored[version] && (e == nil || e.live.File == nil) {
			continue
		}
		h := held{version: version, size: size, entry: e, used: -2}
		if e != nil {
			if h.used = -1; e.open != nil {
				h.used = e.open.used.Load()
			}
		}
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b held) int {
		return cmp.Or(cmp.Compare(a.used, b.used), strings.Compare(a.version, b.version))
	})
	return all
}
