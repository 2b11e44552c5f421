package library

import (
	"errors"
	"sync"

	"herbarium/internal/store"
)

// cache is what is known of the files of versions in the folder, and which of them are also in the
// object store. It is safe for concurrent use and does no I/O while it is locked.
type cache struct {
	*folder
	limit    int64 // of the bytes of files; 0 means unlimited
	counters *counters

	mu        sync.Mutex
	files     map[string]int64 // sizes of the segment files and derived files, by name
	stored    map[string]bool  // names of files known to be in the object store
	changed   map[string]bool  // names that were added to or removed from files during a scan; nil unless one runs
	evicted   chan struct{}    // closed unless files are being evicted; fetches wait for it
	overLimit bool             // the limit is exceeded, which was logged; only maintain uses it
}

func newCache(f *folder, limit int64, counters *counters) *cache {
	c := &cache{
		folder: f, limit: limit, counters: counters,
		files: map[string]int64{}, stored: map[string]bool{}, evicted: make(chan struct{}),
	}
	close(c.evicted)
	return c
}

// fits reports whether the limit allows a number of bytes.
func (c *cache) fits(bytes int64) bool { return c.limit == 0 || bytes <= c.limit }

// size returns the bytes of the files.
func (c *cache) size() (total int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.files {
		total += n
	}
	return total
}

// has reports whether a file that lists a version is in the folder.
func (c *cache) has(version string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, published := c.files[store.SegmentFile(version)]
	_, rebuilt := c.files[RebuiltName(version)]
	return published || rebuilt
}

// add records a file that was written. stored means that it is in the object store.
func (c *cache) add(name string, size int64, stored bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files[name], c.stored[name] = size, stored
	c.noteChange(name)
}

// forget records that files were removed, and returns their size.
func (c *cache) forget(names ...string) (size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		size += c.files[name]
		delete(c.files, name)
		c.noteChange(name)
	}
	return size
}

func (c *cache) noteChange(name string) {
	if c.changed != nil {
		c.changed[name] = true
	}
}

// setStored records which files are in the object store. Eviction spares the others.
func (c *cache) setStored(names map[string]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stored = names
}

// scan lists the files in the folder. What is added or removed meanwhile takes precedence.
func (c *cache) scan() error {
	c.mu.Lock()
	c.changed = map[string]bool{}
	c.mu.Unlock()
	files, err := c.listFiles()
	if err != nil {
		return err
	}
	found := map[string]int64{}
	for _, f := range files {
		if f.Kind != store.SegmentKind && !f.IsDerived() {
			continue
		}
		if info, err := f.Info(); err == nil { // otherwise it was removed meanwhile
			found[f.Name()] = info.Size()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.changed {
		if size, ok := c.files[name]; ok {
			found[name] = size
		} else {
			delete(found, name)
		}
	}
	c.files, c.changed = found, nil
	return nil
}

// replace records a rebuilt file and removes the published one: the object store has it. The fetch
// that calls it keeps both from being evicted.
func (c *cache) replace(version string, size int64, stored bool) {
	c.add(RebuiltName(version), size, stored)
	published := store.SegmentFile(version)
	if err := c.remove(published); err != nil {
		c.log.Warn("cannot evict file from cache; will retry", "file", published, "err", err)
		return
	}
	c.forget(published)
}

// removeVersions removes the files of versions from the folder, and incomplete ones if partial.
func (c *cache) removeVersions(partial bool, versions []string) error {
	files, err := c.listFiles()
	if err != nil {
		return err
	}
	removed := make(map[string]bool, len(versions))
	for _, v := range versions {
		removed[v] = true
	}
	for _, f := range files {
		if !f.IsOf(removed) || f.Kind == store.PartialKind && !partial {
			continue
		}
		failed := c.remove(f.Name())
		if failed == nil {
			c.forget(f.Name())
		}
		err = errors.Join(err, failed)
	}
	return err
}

// evictableFile is a file that may be removed from the cache.
type evictableFile struct {
	name     string
	size     int64
	entry    *entry // whose live or named version it is; nil if there is none
	lastUsed int64  // -2: no entry; -1: not open
}

// evictable returns the files that may be evicted, in any order. users are the entries by version;
// pinned are the versions whose files stay.
func (c *cache) evictable(users map[string]*entry, pinned map[string]bool) (files []evictableFile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, size := range c.files {
		file, _ := store.ParseVersionFile(name)
		f, e := evictableFile{name, size, nil, -2}, users[file.Version]
		switch {
		case file.IsOnDemand(), file.Kind == store.FormerRebuiltKind: // fetched or built again, or useless
		case pinned[file.Version], !c.stored[name] && (e == nil || e.size == 0):
			continue
		case e != nil:
			f.entry, f.lastUsed = e, -1
			if e.open != nil {
				f.lastUsed = e.open.lastUsed.Load()
			}
		}
		files = append(files, f)
	}
	return files
}

// beginEviction makes fetches wait that start before evict has removed files.
func (c *cache) beginEviction() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.evicted = make(chan struct{})
}

// eviction returns a channel that is closed when no eviction runs that has begun before.
func (c *cache) eviction() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.evicted
}

// evict removes files after beginEviction.
func (c *cache) evict(files []evictableFile) {
	if len(files) == 0 {
		return
	}
	for _, f := range files {
		if err := c.remove(f.name); err != nil {
			c.log.Warn("cannot evict file from cache; will retry", "file", f.name, "err", err)
			continue
		}
		size := c.forget(f.name)
		c.counters.evicted.Add(1)
		c.counters.evictedBytes.Add(size)
		c.log.Debug("evicted file from cache", "file", f.name, "bytes", size, "used", f.entry != nil)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.evicted)
}
