package library

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// entry is a dataset of the catalogue, or a version that requests have named: then LiveVersion is that version, and switches
// are those of its dataset when the catalogue was asked for the version. Its fields are guarded by Library.mu.
type entry struct {
	herb.LiveVersion              // according to the catalogue
	switches         int          // changes of the live version seen
	open             *openVersion // the version that is listed, possibly an older one; nil if none is
	fetch            *fetch       // running; nil if there is none
	failed           *failure     // of the last fetch of the live version; nil if there is none
	described        bool         // size is known
	size             int64        // of the live version's file in the object store; 0: it has none there
	checkAt          time.Time    // of a named version: when to ask the catalogue for it again

	words store.SearchWords // of the live version; empty until a search needs them
}

// openVersion is a version that is open on this node.
type openVersion struct {
	*segment.Reader
	dataset  herb.Dataset // as returned by publicDescription
	sequence int          // entry.switches when it was live last; guarded by Library.mu
	lastUsed atomic.Int64 // cache.epoch of the last use
}

// isLive reports whether v is the live version of an entry. v may be nil.
func (v *openVersion) isLive(e *entry) bool { return v != nil && v.dataset.Version == e.Version }

// view returns a view for a caller that holds a reference.
func (v *openVersion) view() View {
	return View{Dataset: v.dataset, Source: v.Reader, reader: v.Reader}
}

// memory estimates the memory of a version in bytes: descriptions of fields and columns, and readers of columns.
func (v *openVersion) memory() int { return 16<<10 + len(v.dataset.Fields)*3<<10 }

// publicDescription returns a description without the internal fields.
func publicDescription(d herb.Dataset) herb.Dataset {
	d.File, d.Origins = nil, nil
	return d
}

// listed returns the version of a dataset that requests list now; nil if they wait for the live one. l.mu is held.
func (l *Library) listed(e *entry) *openVersion {
	if e.open.isLive(e) || l.shared() || e.fetch == nil || e.failed != nil { // requests do not wait for a retry
		return e.open
	}
	return nil
}

// setOpen replaces the open version of an entry; nil closes it. l.mu is held.
func (l *Library) setOpen(e *entry, v *openVersion) {
	if e.open != nil {
		l.openSize -= e.open.memory()
		_ = e.open.Release() // unmapping fails only for what is not mapped
	}
	if e.open = v; v != nil {
		l.openSize += v.memory()
	}
}

// maxOpenSize limits the estimated memory of open versions that no request uses.
const maxOpenSize = 8 << 20

// closeUnused closes the least recently used versions if open versions take more memory than they should, until a quarter
// of the limit is free. An outdated version stays open: it may be the only one that can be listed. l.mu is held.
func (l *Library) closeUnused() {
	if l.openSize <= maxOpenSize {
		return
	}
	var unused []*entry
	for e := range l.allEntries() {
		if e.open.isLive(e) && e.open.Holders() == 1 {
			unused = append(unused, e)
		}
	}
	slices.SortStableFunc(unused, func(a, b *entry) int { return int(a.open.lastUsed.Load() - b.open.lastUsed.Load()) })
	for _, e := range unused {
		if l.openSize <= maxOpenSize/4*3 {
			return
		}
		l.setOpen(e, nil)
	}
}

// applyChanges updates the entries. An open version stays open until the live one was fetched. l.refresh is held.
func (l *Library) applyChanges(c store.Changes) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) == 0 {
		l.entries, l.sorted = make(map[herb.Ref]*entry, len(c.Datasets)), make([]*entry, 0, len(c.Datasets))
	}
	for _, v := range c.Datasets {
		if v.Version == "" {
			l.removeEntry(v.Ref)
		} else {
			l.setEntry(v)
		}
	}
	if c.Complete && len(l.entries) > len(c.Datasets) {
		removed := maps.Clone(l.entries)
		for _, v := range c.Datasets {
			delete(removed, v.Ref)
		}
		for ref := range removed {
			l.removeEntry(ref)
		}
	}
	for _, e := range l.sorted {
		l.fetchIfOutdated(e)
	}
}

// setEntry adds a dataset or sets its live version. l.mu is held.
func (l *Library) setEntry(v herb.LiveVersion) {
	e := l.entries[v.Ref]
	if e == nil {
		e = &entry{LiveVersion: v}
		l.entries[v.Ref] = e
		i, _ := l.position(v.Ref)
		l.sorted = slices.Insert(l.sorted, i, e)
		return
	}
	if e.Version != v.Version {
		e.switches++
		e.failed, e.described, e.size, e.words = nil, false, 0, ""
		if !l.shared() { // a node fetches one version of a dataset at a time
			e.fetch = nil
		}
	}
	e.LiveVersion = v
	if e.open.isLive(e) {
		e.open.sequence = e.switches
	}
}

// removeEntry removes a dataset that was removed from the catalogue. l.mu is held.
func (l *Library) removeEntry(ref herb.Ref) {
	if i, ok := l.position(ref); ok {
		l.setOpen(l.sorted[i], nil)
		l.sorted = slices.Delete(l.sorted, i, i+1)
		delete(l.entries, ref)
	}
}

// position returns the position of a dataset in l.sorted, or the one where it would be inserted. l.mu is held.
func (l *Library) position(ref herb.Ref) (int, bool) {
	if n := len(l.sorted); n > 0 && l.sorted[n-1].Compare(ref) < 0 { // the catalogue is read in this order
		return n, false
	}
	return slices.BinarySearchFunc(l.sorted, ref, func(e *entry, ref herb.Ref) int { return e.Compare(ref) })
}

// catalogueStatus is the state of reading the catalogue. It is immutable.
type catalogueStatus struct {
	generation int64     // of the catalogue; negative if it was never read
	restored   bool      // the entries are those of the catalogue copy of an earlier run
	lastRead   time.Time // last success
	lastTried  time.Time // last attempt
	err        error     // of the last attempt
}

const (
	catalogueLimit = 20 * time.Second // timeout of a read
	catalogueWait  = 2 * time.Second  // timeout of a read in a request, on a node that can serve without it
	cataloguePause = 5 * time.Second  // how long requests do not retry after a failure
)

// upToDate reports whether requests use the entries as they are: they are up to date, or the catalogue failed to answer
// recently. The error is that failure if there are no entries.
func (l *Library) upToDate() (bool, error) {
	s := l.status.Load()
	if s.generation >= 0 && !s.restored && !l.notifier.changed() {
		return true, nil
	}
	if s.err == nil || l.opts.Now().Sub(s.lastTried) >= cataloguePause {
		return false, nil
	}
	if s.generation >= 0 {
		return true, nil
	}
	return true, s.err
}

// updateEntries reads the catalogue if a change notification was received. On a node, one request reads it for all, because
// a shared database can be slow to fail; the others use the last known entries.
func (l *Library) updateEntries(ctx context.Context) error {
	if done, err := l.upToDate(); done {
		return err
	}
	known := l.status.Load().generation >= 0
	limit := catalogueLimit
	if l.shared() && known {
		if !l.refresh.TryLock() {
			return nil
		}
		limit = catalogueWait
	} else {
		l.refresh.Lock()
	}
	defer l.refresh.Unlock()
	if done, err := l.upToDate(); done { // another request has read the catalogue meanwhile
		return err
	}
	if err := l.readCatalogue(ctx, limit, false); !known {
		return err
	}
	return nil
}

// poll reads what changed in the catalogue, or all of it, for Run. Errors are logged and reported by Health.
func (l *Library) poll(ctx context.Context, complete bool) {
	l.refresh.Lock()
	defer l.refresh.Unlock()
	_ = l.readCatalogue(ctx, catalogueLimit, complete)
}

// Refresh updates the entries from the catalogue. If Dir has all files, it opens the datasets of a small library and returns
// when every version that is being opened is open or has failed to open.
func (l *Library) Refresh(ctx context.Context) error {
	l.refresh.Lock()
	err := l.readCatalogue(ctx, catalogueLimit, false)
	l.refresh.Unlock()
	if err != nil || l.shared() {
		return err
	}
	for _, f := range l.openSmall() {
		select {
		case <-f.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// readCatalogue applies what changed in the catalogue since the last time, or all of it, and records and logs the result
// unless the caller left. l.refresh is held.
func (l *Library) readCatalogue(ctx context.Context, limit time.Duration, complete bool) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	last := l.status.Load()
	since := last.generation
	if complete || last.restored {
		since = -1
	}
	stamp := l.notifier.stamp() // before the read, so that no later notification is missed
	changes, err := l.catalogue.Changes(limited, since)
	if ctx.Err() != nil && err != nil {
		return err
	}
	now := *last
	now.lastTried, now.err = l.opts.Now(), err
	switch {
	case err == nil:
		now.generation, now.restored, now.lastRead = changes.Generation, false, now.lastTried
		if changes.Generation != since {
			l.applyChanges(changes)
		}
		l.notifier.acknowledge(stamp)
		if last.err != nil {
			l.opts.Log.Info("catalogue is readable again")
		}
	case last.err == nil:
		l.opts.Log.Error("cannot read catalogue; serving last known versions", "err", err)
	}
	l.status.Store(&now)
	if err == nil && l.shared() && changes.Generation != since {
		l.saveCatalogueCopy()
	}
	return err
}

// smallSegment is the size up to which a segment is verified when it is opened. Verifying larger ones would delay the start;
// they were verified when published and when fetched.
const smallSegment = 64 << 20

func openSegment(path string) (*segment.Reader, error) {
	r, err := segment.Open(path)
	if err != nil {
		return nil, err
	}
	if r.Size() <= smallSegment {
		if err := r.Verify(); err != nil {
			return nil, errors.Join(err, r.Release())
		}
	}
	return r, nil
}

func (l *Library) file(version string) string {
	return filepath.Join(l.opts.Dir, version+fileSuffix)
}

const fileSuffix = ".segment"
