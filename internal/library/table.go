package library

import (
	"slices"
	"sync"
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
// _version. LiveVersion is then the named version. Its fields are guarded by table.mu.
type entry struct {
	herb.LiveVersion              // according to the catalogue
	open             *openVersion // the version that is listed, possibly an older one; nil if none is
	fetch            *fetch       // running; nil if there is none
	failed           *failure     // of the last fetch of the live version; nil if there is none
	named            bool         // a named version
	described        bool         // size is known
	size             int64        // of the live version's file in the object store; 0 if it is not stored there
	index            string       // of that file; empty if it is unknown
	// of the catalogue that has confirmed a named version; a later one may have dropped it
	generation int64
	checkedAt  int64 // table.epoch when the catalogue confirmed a named version

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
	lastUsed atomic.Int64 // table.epoch of the last use
}

func newOpenVersion(r *segment.Reader, d herb.Dataset) *openVersion {
	d.Coordinates = r.Coordinates()
	return &openVersion{
		Reader: r, dataset: publicDescription(d), summary: summarize(d),
		kept:  d.Settings != nil && d.Settings.Kept != nil,
		close: func() { _ = r.Release() }, // unmapping does not fail
	}
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

// table is what requests read: the datasets of the catalogue, and which version of each is open. It
// decides which version is listed, which open ones are closed for lack of memory or use, and that
// a withdrawn one is not opened again. Callers lock it.
type table struct {
	isShared bool // the files are in an object store
	openMax  int  // bytes of memory of open versions that no request uses, estimated

	epoch atomic.Int64 // clock of lastUsed, about one tick per second; safe without mu

	// mu guards the other fields and those of entries. Every request takes it, so no file is read,
	// written, removed or unmapped, and nothing is logged, while it is held.
	mu        sync.RWMutex
	entries   map[versionKey]*entry
	sorted    []*entry // of datasets, by ref
	openSize  int      // memory of open versions, estimated
	withdrawn map[string]bool
	after     []func() // called by unlock, after mu is released
}

func newTable(isShared bool, openMax int) *table {
	return &table{isShared: isShared, openMax: openMax, entries: map[versionKey]*entry{}, withdrawn: map[string]bool{}}
}

// unlock unlocks mu and then does what takes too long to be done with it: it closes versions that
// are not open any more, because unmapping a file can take as long as I/O, and logs.
func (t *table) unlock() {
	after := t.after
	t.after = nil
	t.mu.Unlock()
	for _, do := range after {
		do()
	}
}

// live returns the live versions of the published datasets, ordered by ref.
func (t *table) live() []herb.LiveVersion {
	t.mu.RLock()
	defer t.mu.RUnlock()
	all := make([]herb.LiveVersion, len(t.sorted))
	for i, e := range t.sorted {
		all[i] = e.LiveVersion
	}
	return all
}

// find returns the live version of a dataset, if it has one.
func (t *table) find(ref herb.Ref) (v herb.LiveVersion, ok bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if e := t.entries[versionKey{ref: ref}]; e != nil {
		return e.LiveVersion, true
	}
	return v, false
}

// view returns a view of the open version of an entry for a caller that holds a reference, and
// records the use. Every request calls it, so it writes the shared variable only if it changes.
// t.mu is held.
func (t *table) view(e *entry) View {
	v := e.open
	if now := t.epoch.Load(); v.lastUsed.Load() != now {
		v.lastUsed.Store(now)
	}
	view := View{Dataset: v.dataset, Engine: v.Reader, Close: v.close, Reader: v.Reader, Kept: v.kept}
	view.Access = e.access()
	return view
}

// listed returns the version of a dataset that requests list now; nil if they wait for the live
// one. t.mu is held.
func (t *table) listed(e *entry) *openVersion {
	if e.isOpen() || t.isShared || e.fetch == nil || e.failed != nil { // requests do not wait for a retry
		return e.open
	}
	return nil
}

// setOpen replaces the open version of an entry; nil closes it. t.mu is held, and the caller calls
// unlock.
func (t *table) setOpen(e *entry, v *openVersion) {
	if e.open != nil {
		t.openSize -= e.open.memory()
		t.after = append(t.after, e.open.close)
	}
	e.open = v
	if v != nil {
		t.openSize += v.memory()
	}
}

// closeUnused closes the least recently used versions if open versions take more memory than they
// should, until a quarter of the limit is free. It spares the version that was opened last, because
// requests wait for it, and outdated versions, which may be the only ones that can be listed. t.mu
// is held.
func (t *table) closeUnused(opened *entry) {
	if t.openSize <= t.openMax {
		return
	}
	var unused []*entry
	for _, e := range t.entries {
		if e != opened && e.isOpen() && e.open.References() == 1 {
			unused = append(unused, e)
		}
	}
	slices.SortFunc(unused, func(a, b *entry) int { return int(a.open.lastUsed.Load() - b.open.lastUsed.Load()) })
	for _, e := range unused {
		if t.openSize <= t.openMax/4*3 {
			return
		}
		t.setOpen(e, nil)
	}
}

// apply updates the entries. An open version stays open until the live one was fetched. t.mu is
// held, and the caller calls unlock.
func (t *table) apply(c store.Changes) {
	if c.Complete { // a database that was restored may have a version again
		clear(t.withdrawn)
	}
	t.addWithdrawn(c.Withdrawn)
	if len(t.entries) == 0 {
		t.entries, t.sorted = make(map[versionKey]*entry, len(c.Datasets)), make([]*entry, 0, len(c.Datasets))
	}
	for _, v := range c.Datasets {
		if v.Version == "" {
			t.removeEntry(versionKey{ref: v.Ref})
		} else {
			t.setEntry(v)
		}
	}
	if c.Complete && len(t.sorted) > len(c.Datasets) {
		kept := map[herb.Ref]bool{}
		for _, v := range c.Datasets {
			kept[v.Ref] = true
		}
		for _, e := range slices.Clone(t.sorted) {
			if !kept[e.Ref] {
				t.removeEntry(e.key())
			}
		}
	}
}

// setEntry adds a dataset or sets its live version. t.mu is held.
func (t *table) setEntry(v herb.LiveVersion) {
	key := versionKey{ref: v.Ref}
	e := t.entries[key]
	if e == nil {
		e = &entry{LiveVersion: v}
		t.entries[key] = e
		i, _ := t.position(v.Ref)
		t.sorted = slices.Insert(t.sorted, i, e)
		return
	}
	if e.Version != v.Version {
		e.failed, e.described, e.size, e.index, e.words = nil, false, 0, "", ""
	}
	e.LiveVersion = v
}

// removeEntry closes and removes a dataset that was removed from the catalogue, or a named version.
// t.mu is held.
func (t *table) removeEntry(key versionKey) {
	e := t.entries[key]
	if e == nil {
		return
	}
	t.setOpen(e, nil)
	delete(t.entries, key)
	if i, ok := t.position(key.ref); ok && t.sorted[i] == e {
		t.sorted = slices.Delete(t.sorted, i, i+1)
	}
}

// position returns the position of a dataset in t.sorted, or the one where it would be inserted.
// t.mu is held.
func (t *table) position(ref herb.Ref) (int, bool) {
	if n := len(t.sorted); n > 0 && t.sorted[n-1].Compare(ref) < 0 { // the catalogue is read in this order
		return n, false
	}
	return slices.BinarySearchFunc(t.sorted, ref, func(e *entry, ref herb.Ref) int { return e.Compare(ref) })
}

// namedIdle is the number of ticks of table.epoch without a request after which a named version is
// closed. The file of a version that left the catalogue occupies the disk as long as it is open.
const namedIdle = 60

// closeIdle closes named versions that no request has used for a while. t.mu is held.
func (t *table) closeIdle() {
	if len(t.entries) == len(t.sorted) {
		return // there are none
	}
	for key, e := range t.entries {
		lastUsed, inUse := e.checkedAt, e.fetch != nil
		if e.open != nil {
			lastUsed, inUse = max(lastUsed, e.open.lastUsed.Load()), inUse || e.open.References() > 1
		}
		if e.named && !inUse && t.epoch.Load()-lastUsed > namedIdle {
			t.removeEntry(key)
		}
	}
}

// addWithdrawn records withdrawn versions and closes them. t.mu is held, and the caller calls
// unlock.
func (t *table) addWithdrawn(versions []string) {
	for _, v := range versions {
		t.withdrawn[v] = true
	}
	for key, e := range t.entries {
		switch {
		case t.withdrawn[key.version]:
			t.removeEntry(key)
		case e.open != nil && t.withdrawn[e.open.dataset.Version]: // listed until the live version is open
			t.setOpen(e, nil)
		}
	}
}

// isWithdrawn reports whether a version was withdrawn.
func (t *table) isWithdrawn(version string) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.withdrawn[version]
}
