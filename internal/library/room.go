package library

import (
	"cmp"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"herbarium/internal/filesystem"
	"herbarium/internal/store"
)

// Readers choose which files are derived from kept versions, so their size has a limit: a share of
// the disk space that is free without them.
const (
	spareSpace      = 256 << 20 // bytes that derived files leave free
	derivedShare    = 2         // of the rest, they take one part in derivedShare
	maxDerivedFiles = 10_000
	noRoom          = "not enough disk space on the server for %s; ask its operator to make room"
)

// derivedFiles records the use of derived files.
type derivedFiles struct {
	room sync.Mutex // held while files are removed

	mu   sync.Mutex
	used map[string]time.Time // by name; those of earlier processes are missing
}

// recordUse records that a derived file was read.
func (f *derivedFiles) recordUse(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.used == nil {
		f.used = map[string]time.Time{}
	}
	f.used[name] = time.Now()
}

// derivedFile is a derived file in Dir.
type derivedFile struct {
	name   string
	size   int64
	isLive bool // of a live version
	used   time.Time
}

// makeRoom removes derived files until a number of bytes can be written and all of them are within
// their limit: first those of kept versions, then those of live ones, each the least recently used
// first. It fails with syscall.ENOSPC if there is not enough room without any.
func (l *Library) makeRoom(bytes int64) error {
	l.derived.room.Lock()
	defer l.derived.room.Unlock()
	files, total, err := l.listDerived()
	if err != nil {
		return err
	}
	limit := total + bytes
	if free, _, ok := l.opts.Free(l.opts.Dir); ok {
		limit = max(int64(free)+total-spareSpace, 0) / derivedShare
	}
	for len(files) > 0 && (total+bytes > limit || len(files) >= maxDerivedFiles) {
		f := files[0]
		if err := l.opts.FS.RemoveAll(filepath.Join(l.opts.Dir, f.name)); err != nil {
			return err
		}
		l.opts.Log.Debug("removed derived file", "file", f.name, "bytes", f.size)
		l.forgetDerived(f.name)
		total -= f.size
		files = files[1:]
	}
	if total+bytes > limit {
		return syscall.ENOSPC
	}
	return nil
}

// TrimDerived removes derived files beyond their limit.
func (l *Library) TrimDerived() error {
	err := l.makeRoom(0)
	if filesystem.IsFull(err) { // nothing is left to remove
		return nil
	}
	return err
}

// listDerived returns the Parquet files and comparisons in Dir, those to remove first first, and
// their size.
func (l *Library) listDerived() (files []derivedFile, total int64, err error) {
	entries, err := l.opts.FS.ReadDir(l.opts.Dir)
	if err != nil {
		return nil, 0, err
	}
	live := map[string]bool{}
	l.mu.RLock()
	for _, e := range l.sorted {
		live[e.Version] = true
	}
	l.mu.RUnlock()
	l.derived.mu.Lock()
	defer l.derived.mu.Unlock()
	present := map[string]time.Time{}
	for _, e := range entries {
		f, ok := store.ParseVersionFile(e.Name())
		if !ok || f.Kind != store.ParquetKind && f.Kind != store.ComparisonKind {
			continue
		}
		info, err := e.Info()
		if err != nil { // it was removed meanwhile
			continue
		}
		used, isUsed := l.derived.used[e.Name()]
		if isUsed {
			present[e.Name()] = used
		} else {
			used = info.ModTime()
		}
		files = append(files, derivedFile{e.Name(), info.Size(), live[f.Version], used})
		total += info.Size()
	}
	l.derived.used = present
	slices.SortFunc(files, func(a, b derivedFile) int {
		switch {
		case a.isLive == b.isLive:
			return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.name, b.name))
		case b.isLive:
			return -1
		default:
			return 1
		}
	})
	return files, total, nil
}

// forgetDerived records that a derived file was removed.
func (l *Library) forgetDerived(name string) {
	l.derived.mu.Lock()
	delete(l.derived.used, name)
	l.derived.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cache.remove(name)
}
