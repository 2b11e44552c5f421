package library

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// liveSet is the state of the catalogue at one generation. Its map is immutable; updates swap the pointer to the set.
type liveSet struct {
	generation int64 // of the catalogue; negative if it was never read
	restored   bool  // loaded from the catalogue copy of an earlier run
	sequence   int64 // number of catalogue changes seen before
	entries    map[herb.Ref]*entry
}

// entry is a dataset of a live set. Its fields are written with Library.mu held.
type entry struct {
	live   herb.Dataset                // the live version according to the catalogue
	open   atomic.Pointer[openVersion] // the version that is listed, possibly an older one; nil if none is
	fetch  *fetch                      // running; nil if there is none
	failed *failure                    // of the last fetch of the live version; nil if there is none
}

// openVersion is a version that is open on this node.
type openVersion struct {
	*segment.Reader
	dataset  herb.Dataset // as returned by publicDescription
	sequence int64        // of the last live set in which it was live; guarded by Library.mu
	lastUsed atomic.Int64 // cache.epoch of the last use
}

// isLive reports whether v is the live version of an entry. v may be nil.
func (v *openVersion) isLive(e *entry) bool { return v != nil && v.dataset.Version == e.live.Version }

// view returns a view for a caller that holds a reference.
func (v *openVersion) view() View {
	return View{Dataset: v.dataset, Source: v.Reader, reader: v.Reader}
}

// publicDescription returns a description without the internal fields.
func publicDescription(d herb.Dataset) herb.Dataset {
	d.File, d.Origins = nil, nil
	return d
}

// listed returns the version of a dataset that requests list now; nil if they wait for the live one. l.mu is held.
func (l *Library) listed(e *entry) *openVersion {
	v := e.open.Load()
	if v.isLive(e) || l.shared() || e.fetch == nil || e.failed != nil { // requests do not wait for a retry
		return v
	}
	return nil
}

// replaceLive swaps the live set and releases the versions that the new one does not contain. l.mu is held.
func (l *Library) replaceLive(next *liveSet) {
	for ref, e := range l.live.Swap(next).entries {
		v := e.open.Load()
		if n := next.entries[ref]; v != nil && (n == nil || n.open.Load() != v) {
			_ = v.Release() // unmapping fails only for what is not mapped
		}
	}
}

// setOpen replaces the open version of an entry; nil closes it. l.mu is held.
func (l *Library) setOpen(e *entry, v *openVersion) {
	if old := e.open.Swap(v); old != nil {
		_ = old.Release()
	}
}

// catalogueStatus is the state of reading the catalogue. It is immutable.
type catalogueStatus struct {
	lastRead  time.Time // last success
	lastTried time.Time // last attempt
	err       error     // of the last attempt
}

const (
	catalogueLimit = 20 * time.Second // timeout of a read
	catalogueWait  = 2 * time.Second  // timeout of a read in a request, on a node that can serve without it
	cataloguePause = 5 * time.Second  // how long requests do not retry after a failure
)

// cached returns the live set and true if it is up to date or the catalogue failed to answer recently.
func (l *Library) cached() (*liveSet, bool, error) {
	s := l.live.Load()
	if s.generation >= 0 && !s.restored && !l.notifier.changed() {
		return s, true, nil
	}
	last := l.status.Load()
	failed := last.err != nil && l.opts.Now().Sub(last.lastTried) < cataloguePause
	if !failed || s.generation >= 0 {
		return s, failed, nil
	}
	return nil, true, last.err
}

// current returns the live set. It reads the catalogue first if a change notification was received. On a node, one request
// reads it for all, because a shared database can be slow to fail; the others get the last known live set.
func (l *Library) current(ctx context.Context) (*liveSet, error) {
	s, done, err := l.cached()
	if done {
		return s, err
	}
	limit := catalogueLimit
	if l.shared() && s.generation >= 0 {
		if !l.refresh.TryLock() {
			return s, nil
		}
		limit = catalogueWait
	} else {
		l.refresh.Lock()
	}
	defer l.refresh.Unlock()
	if s, done, err := l.cached(); done { // another request has read the catalogue meanwhile
		return s, err
	}
	if err := l.readCatalogue(ctx, limit); err != nil && s.generation < 0 {
		return nil, err
	}
	return l.live.Load(), nil
}

// poll reads the catalogue for Run. Errors are logged and reported by Health.
func (l *Library) poll(ctx context.Context) {
	l.refresh.Lock()
	defer l.refresh.Unlock()
	_ = l.readCatalogue(ctx, catalogueLimit)
}

// Refresh updates the live set from the catalogue. If Dir has all files, it returns when every version is open or has failed
// to open.
func (l *Library) Refresh(ctx context.Context) error {
	l.refresh.Lock()
	err := l.readCatalogue(ctx, catalogueLimit)
	l.refresh.Unlock()
	if err != nil || l.shared() {
		return err
	}
	for _, f := range l.fetches() {
		select {
		case <-f.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// readCatalogue updates the live set if the catalogue has changed, and records and logs the result unless the caller left.
// l.refresh is held.
func (l *Library) readCatalogue(ctx context.Context, limit time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := l.tryReadCatalogue(limited)
	if ctx.Err() != nil {
		return err
	}
	last := l.status.Load()
	now := catalogueStatus{lastRead: last.lastRead, lastTried: l.opts.Now(), err: err}
	switch {
	case err == nil:
		now.lastRead = now.lastTried
		if last.err != nil {
			l.opts.Log.Info("catalogue is readable again")
		}
	case last.err == nil:
		l.opts.Log.Error("cannot read catalogue; serving last known versions", "err", err)
	}
	l.status.Store(&now)
	return err
}

func (l *Library) tryReadCatalogue(ctx context.Context) error {
	stamp := l.notifier.stamp() // before the read, so that no later notification is missed
	generation, err := l.catalogue.Generation(ctx)
	if err != nil {
		return err
	}
	if old := l.live.Load(); generation != old.generation || old.restored {
		datasets, err := l.catalogue.Datasets(ctx)
		if err != nil {
			return err
		}
		l.applyCatalogue(generation, datasets)
		if l.shared() {
			l.saveCatalogueCopy()
		}
	}
	l.notifier.acknowledge(stamp)
	return nil
}

// applyCatalogue makes the content of the catalogue the live set. An open version stays open until the live one was fetched.
// l.refresh is held.
func (l *Library) applyCatalogue(generation int64, datasets []herb.Dataset) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.live.Load()
	next := &liveSet{generation: generation, sequence: old.sequence + 1, entries: make(map[herb.Ref]*entry, len(datasets))}
	for _, d := range datasets {
		e := &entry{live: d}
		if before := old.entries[d.Ref]; before != nil {
			v, same := before.open.Load(), before.live.Version == d.Version
			e.open.Store(v)
			if v.isLive(e) {
				v.sequence = next.sequence
			}
			if same {
				e.failed = before.failed
			}
			if same || l.shared() { // a node fetches one version of a dataset at a time
				e.fetch = before.fetch
			}
		}
		next.entries[d.Ref] = e
	}
	l.replaceLive(next)
	for _, d := range datasets {
		l.fetchIfOutdated(next.entries[d.Ref])
	}
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

// catalogueFile is a node's copy of the catalogue, which it lists if it starts while the catalogue is down.
const catalogueFile = "catalogue.json"

// catalogueCopy is the content of catalogueFile.
type catalogueCopy struct {
	Generation int64          `json:"generation"`
	Datasets   []herb.Dataset `json:"datasets"`
	Mutable    []herb.Dataset `json:"living,omitempty"` // last known descriptions
}

// loadCatalogueCopy restores the live set from the copy that an earlier run saved, until the catalogue is read.
func (l *Library) loadCatalogueCopy() {
	content, err := os.ReadFile(filepath.Join(l.opts.Dir, catalogueFile))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var copied catalogueCopy
	if err == nil {
		err = json.Unmarshal(content, &copied)
	}
	if err != nil {
		l.opts.Log.Warn("cannot load catalogue copy", "err", err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &liveSet{generation: max(copied.Generation, 0), restored: true, entries: make(map[herb.Ref]*entry, len(copied.Datasets))}
	for _, d := range copied.Datasets {
		s.entries[d.Ref] = &entry{live: d}
	}
	l.replaceLive(s)
	for _, d := range copied.Mutable {
		if known := l.mutable[d.Ref]; known != nil {
			known.dataset, known.known = d, true
		}
	}
	l.cache.savedCopy = content
	l.opts.Log.Info("serving versions of the catalogue copy until the catalogue is read", "datasets", len(copied.Datasets))
}

// saveCatalogueCopy saves the live set for loadCatalogueCopy if it changed.
func (l *Library) saveCatalogueCopy() {
	s := l.live.Load()
	if s.restored || s.generation < 0 {
		return
	}
	copied := catalogueCopy{Generation: s.generation, Datasets: []herb.Dataset{}}
	for _, e := range s.entries {
		copied.Datasets = append(copied.Datasets, e.live)
	}
	for ref := range l.mutable {
		if d, ok := l.mutable[ref].lastDescription(); ok {
			copied.Mutable = append(copied.Mutable, d)
		}
	}
	byRef(copied.Datasets)
	byRef(copied.Mutable)
	content, err := json.Marshal(copied)
	l.cache.saving.Lock()
	defer l.cache.saving.Unlock()
	if err == nil && !bytes.Equal(content, l.cache.savedCopy) {
		path := filepath.Join(l.opts.Dir, catalogueFile)
		part := path + "." + rand.Text() + segment.PartSuffix // another process may write it concurrently
		err = l.writeFile(part, path, func(w io.Writer) error {
			_, err := w.Write(content)
			return err
		})
		if err == nil {
			l.cache.savedCopy = content
		}
	}
	if err != nil {
		l.opts.Log.Warn("cannot save catalogue copy", "err", err)
	}
}
