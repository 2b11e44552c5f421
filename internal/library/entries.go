package library

import (
	"context"
	"slices"
	"sync/atomic"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// versionKey identifies an entry: a dataset, or a version of it that requests have named.
type versionKey struct {
	ref     herb.Ref
	version string // empty means the live one
}

// entry is a dataset of the catalogue, or a named version: one that requests have named with
// _version. LiveVersion is then the named version. Its fields are guarded by Library.mu.
type entry struct {
	herb.LiveVersion              // according to the catalogue
	open             *openVersion // the version that is listed, possibly an older one; nil if none is
	fetch            *fetch       // running; nil if there is none
	failed           *failure     // of the last fetch of the live version; nil if there is none
	named            bool         // a named version
	described        bool         // size is known
	size             int64        // of the live version's file in the object store; 0 if it is not stored there
	index            string       // of that file; empty if it is unknown
	generation       int64        // of the catalogue that has confirmed a named version; a later one may have dropped it
	checkedAt        int64        // cache.epoch when the catalogue confirmed a named version

	words store.SearchWords // of the live version; empty until a search needs them
}

func (e *entry) key() versionKey {
	if e.named {
		return versionKey{e.Ref, e.Version}
	}
	return versionKey{ref: e.Ref}
}

// isOpen reports whether the live version is open.
func (e *entry) isOpen() bool { return e.open != nil && e.open.dataset.Version == e.Version }

// access returns the access of the open version. An older one, which is listed until the live
// version is open, requires a key if the live version does.
func (e *entry) access() herb.Access {
	if !e.isOpen() && e.Access.NeedsKey() {
		return herb.AccessKey
	}
	return e.open.dataset.Access
}

// openVersion is a version that is open on this node.
type openVersion struct {
	*segment.Reader
	dataset  herb.Dataset // without internal fields
	kept     bool         // its source was sent to the server and is kept with it
	summary  herb.Dataset // for lists of datasets
	close    func()       // releases a reference
	lastUsed atomic.Int64 // cache.epoch of the last use
}

func newOpenVersion(r *segment.Reader, d herb.Dataset) *openVersion {
	d.Coordinates = r.Coordinates()
	return &openVersion{
		Reader: r, dataset: publicDescription(d), summary: summarize(d),
		kept:  d.Settings != nil && d.Settings.Kept != nil,
		close: func() { _ = r.Release() }, // unmapping does not fail
	}
}

// view returns a view of the open version of an entry for a caller that holds a reference, and
// records the use. Every request calls it, so it writes the shared variable only if it changes.
// l.mu is held.
func (l *Library) view(e *entry) View {
	v := e.open
	if now := l.cache.epoch.Load(); v.lastUsed.Load() != now {
		v.lastUsed.Store(now)
	}
	view := View{Dataset: v.dataset, Engine: v.Reader, Close: v.close, Reader: v.Reader, Kept: v.kept}
	view.Access = e.access()
	return view
}

// memory estimates the memory of a version in bytes: descriptions of fields and columns, readers of
// columns, and the descriptor.
func (v *openVersion) memory() int {
	return 16<<10 + len(v.dataset.Fields)*3<<10 + v.dataset.Descriptor.Size()
}

// publicDescription returns a description without the internal fields. Versions of earlier releases
// may have texts of megabytes.
func publicDescription(d herb.Dataset) herb.Dataset {
	d.File, d.Origins, d.Settings, d.Predecessors = nil, nil, nil, nil
	return d.ForReaders().ClipTexts()
}

// listed returns the version of a dataset that requests list now; nil if they wait for the live
// one. l.mu is held.
func (l *Library) listed(e *entry) *openVersion {
	if e.isOpen() || l.shared() || e.fetch == nil || e.failed != nil { // requests do not wait for a retry
		return e.open
	}
	return nil
}

// setOpen replaces the open version of an entry; nil closes it. l.mu is held, and the caller calls
// unlock.
func (l *Library) setOpen(e *entry, v *openVersion) {
	if e.open != nil {
		l.openSize -= e.open.memory()
		l.closing = append(l.closing, e.open.close)
	}
	if e.open = v; v != nil {
		l.openSize += v.memory()
	}
}

// closeUnused closes the least recently used versions if open versions take more memory than they
// should, until a quarter of the limit is free. It spares the version that was opened last, because
// requests wait for it, and outdated versions, which may be the only ones that can be listed. l.mu
// is held.
func (l *Library) closeUnused(opened *entry) {
	if l.openSize <= l.opts.OpenSize {
		return
	}
	var unused []*entry
	for _, e := range l.entries {
		if e != opened && e.isOpen() && e.open.References() == 1 {
			unused = append(unused, e)
		}
	}
	slices.SortFunc(unused, func(a, b *entry) int { return int(a.open.lastUsed.Load() - b.open.lastUsed.Load()) })
	for _, e := range unused {
		if l.openSize <= l.opts.OpenSize/4*3 {
			return
		}
		l.setOpen(e, nil)
	}
}

// applyChanges updates the entries. An open version stays open until the live one was fetched.
// l.refresh is held.
func (l *Library) applyChanges(c store.Changes) {
	l.mu.Lock()
	defer l.unlock()
	if c.Complete { // a database that was restored may have a version again
		clear(l.withdrawn)
	}
	l.addWithdrawn(c.Withdrawn)
	if len(l.entries) == 0 {
		l.entries, l.sorted = make(map[versionKey]*entry, len(c.Datasets)), make([]*entry, 0, len(c.Datasets))
	}
	for _, v := range c.Datasets {
		if v.Version == "" {
			l.removeEntry(versionKey{ref: v.Ref})
		} else {
			l.setEntry(v)
		}
	}
	if c.Complete && len(l.sorted) > len(c.Datasets) {
		kept := map[herb.Ref]bool{}
		for _, v := range c.Datasets {
			kept[v.Ref] = true
		}
		for _, e := range slices.Clone(l.sorted) {
			if !kept[e.Ref] {
				l.removeEntry(e.key())
			}
		}
	}
	for _, e := range l.sorted {
		l.fetchIfOutdated(e)
	}
}

// setEntry adds a dataset or sets its live version. l.mu is held.
func (l *Library) setEntry(v herb.LiveVersion) {
	key := versionKey{ref: v.Ref}
	e := l.entries[key]
	if e == nil {
		e = &entry{LiveVersion: v}
		l.entries[key] = e
		i, _ := l.position(v.Ref)
		l.sorted = slices.Insert(l.sorted, i, e)
		return
	}
	if e.Version != v.Version {
		e.failed, e.described, e.size, e.index, e.words = nil, false, 0, "", ""
	}
	e.LiveVersion = v
}

// removeEntry closes and removes a dataset that was removed from the catalogue, or a named version.
// l.mu is held.
func (l *Library) removeEntry(key versionKey) {
	e := l.entries[key]
	if e == nil {
		return
	}
	l.setOpen(e, nil)
	delete(l.entries, key)
	if i, ok := l.position(key.ref); ok && l.sorted[i] == e {
		l.sorted = slices.Delete(l.sorted, i, i+1)
	}
}

// position returns the position of a dataset in l.sorted, or the one where it would be inserted.
// l.mu is held.
func (l *Library) position(ref herb.Ref) (int, bool) {
	if n := len(l.sorted); n > 0 && l.sorted[n-1].Compare(ref) < 0 { // the catalogue is read in this order
		return n, false
	}
	return slices.BinarySearchFunc(l.sorted, ref, func(e *entry, ref herb.Ref) int { return e.Compare(ref) })
}

// namedIdle is the number of ticks of cache.epoch without a request after which a named version is
// closed. The file of a version that left the catalogue occupies the disk as long as it is open.
const namedIdle = 60

// isMissing reports whether the catalogue has no such dataset or version.
func isMissing(err error) bool {
	return herb.CodeOf(err) == herb.CodeNotFound || herb.CodeOf(err) == herb.CodeGone
}

// checkNamed looks up a version in the catalogue and adds it to the entries, or removes it. While
// the catalogue is down, a node uses its copy of the description, if it has one.
func (l *Library) checkNamed(ctx context.Context, key versionKey) error {
	generation := l.status.Load().generation
	limited, cancel := context.WithTimeout(ctx, catalogueWait)
	defer cancel()
	d, err := l.catalogue.Version(limited, key.ref, key.version)
	if err != nil && l.shared() && !isMissing(err) && ctx.Err() == nil {
		if copied, failed := l.loadDescription(herb.LiveVersion{Ref: key.ref, Version: key.version}); failed == nil {
			d, err = copied, nil
		}
	}
	l.mu.Lock()
	defer l.unlock()
	if isMissing(err) {
		l.removeEntry(key)
	}
	if err != nil || l.cache.ctx.Err() != nil {
		return err
	}
	e := l.entries[key]
	if e == nil {
		v := herb.LiveVersion{Ref: key.ref, Version: key.version, Records: d.Records, Published: d.Published}
		e = &entry{named: true, LiveVersion: v}
		l.entries[key] = e
	}
	if d.File != nil {
		e.size = d.File.Size
	}
	e.generation, e.checkedAt = generation, l.cache.epoch.Load()
	return nil
}

// closeIdle closes named versions that no request has used for a while. l.mu is held.
func (l *Library) closeIdle() {
	if len(l.entries) == len(l.sorted) {
		return // there are none
	}
	for key, e := range l.entries {
		lastUsed, inUse := e.checkedAt, e.fetch != nil
		if e.open != nil {
			lastUsed, inUse = max(lastUsed, e.open.lastUsed.Load()), inUse || e.open.References() > 1
		}
		if e.named && !inUse && l.cache.epoch.Load()-lastUsed > namedIdle {
			l.removeEntry(key)
		}
	}
}
