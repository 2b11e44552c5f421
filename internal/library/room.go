package library

import (
	"cmp"
	"slices"
	"syscall"
	"time"

	"herbarium/internal/filesystem"
)

// Readers choose which files are derived from kept versions, so their size has a limit: a share of
// the disk space that is free without them.
const (
	spareSpace      = 256 << 20 // bytes that derived files leave free
	derivedShare    = 2         // of the rest, they take one part in derivedShare
	maxDerivedFiles = 10_000
	noRoom          = "not enough disk space on the server for %s; ask its operator to make room"
)

// recordUse records that a derived file was read.
func (l *derivedFiles) recordUse(name string) {
	l.uses.Lock()
	defer l.uses.Unlock()
	if l.used == nil {
		l.used = map[string]time.Time{}
	}
	l.used[name] = time.Now()
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
func (l *derivedFiles) makeRoom(bytes int64) error {
	l.room.Lock()
	defer l.room.Unlock()
	files, total, err := l.listDerived()
	if err != nil {
		return err
	}
	limit := total + bytes
	if free, _, ok := l.free(l.dir); ok {
		limit = max(int64(free)+total-spareSpace, 0) / derivedShare
	}
	for len(files) > 0 && (total+bytes > limit || len(files) >= maxDerivedFiles) {
		f := files[0]
		if err := l.remove(f.name); err != nil {
			return err
		}
		l.log.Debug("removed derived file", "file", f.name, "bytes", f.size)
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
func (l *derivedFiles) TrimDerived() error {
	err := l.makeRoom(0)
	if filesystem.IsFull(err) { // nothing is left to remove
		return nil
	}
	return err
}

// listDerived returns the Parquet files and comparisons in Dir, those to remove first first, and
// their size.
func (l *derivedFiles) listDerived() (files []derivedFile, total int64, err error) {
	entries, err := l.listFiles()
	if err != nil {
		return nil, 0, err
	}
	live := map[string]bool{}
	for _, v := range l.table.live() {
		live[v.Version] = true
	}
	l.uses.Lock()
	defer l.uses.Unlock()
	present := map[string]time.Time{}
	for _, e := range entries {
		if !e.IsOnDemand() {
			continue
		}
		info, err := e.Info()
		if err != nil { // it was removed meanwhile
			continue
		}
		used, isUsed := l.used[e.Name()]
		if isUsed {
			present[e.Name()] = used
		} else {
			used = info.ModTime()
		}
		files = append(files, derivedFile{e.Name(), info.Size(), live[e.Version], used})
		total += info.Size()
	}
	l.used = present
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
func (l *derivedFiles) forgetDerived(name string) {
	l.uses.Lock()
	delete(l.used, name)
	l.uses.Unlock()
	l.cache.forget(name)
}
