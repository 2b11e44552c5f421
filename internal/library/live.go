package library

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// liveSet is an immutable view of the live versions; updates swap the pointer.
type liveSet struct {
	generation int64 // of the catalogue; negative if it was never read
	restored   bool  // loaded from the catalogue copy of an earlier run
	sequence   int64 // number of catalogue changes seen before, with Blobs
	entries    map[herb.Ref]*entry
}

// entry is a dataset of a live set.
type entry struct {
	live herb.Dataset // the live version according to the catalogue
	open *openVersion // the version that is listed, possibly an older one; nil if none is

	// The following are used without Blobs only.
	opening *opening // opening of the live version; nil if it is open or waits for a retry
	failed  *failure // last failure to open the live version; nil if there was none
}

// dataset describes the version that the next request lists. A version being opened counts, because requests wait for it.
func (e *entry) dataset() herb.Dataset {
	if e.open != nil && !e.awaited() {
		return e.open.dataset
	}
	return publicDescription(e.live)
}

// current reports whether the live version is the open one.
func (e *entry) current() bool { return e.open != nil && e.open.dataset.Version == e.live.Version }

// openVersion is a version that is open on this node.
type openVersion struct {
	*segment.Reader
	dataset  herb.Dataset // as returned by publicDescription
	sequence int64        // of the last live set in which it was live; guarded by Library.mu
	lastUsed atomic.Int64 // cache.epoch of the last use
}

// snapshot returns a snapshot for a caller that holds a reference.
func (v *openVersion) snapshot() Snapshot { return Snapshot{v.dataset, v.Reader, v.Reader} }

// newOpenVersion takes over a reference to a reader.
func newOpenVersion(d herb.Dataset, r *segment.Reader) *openVersion {
	return &openVersion{Reader: r, dataset: publicDescription(d)}
}

// publicDescription returns a description without the internal fields.
func publicDescription(d herb.Dataset) herb.Dataset {
	d.File, d.Origins = nil, nil
	return d
}

// replaceLive swaps the live set and releases the versions that the new one does not contain. l.mu is held.
func (l *Library) replaceLive(next *liveSet) {
	old := l.live.Swap(next)
	for ref, e := range old.entries {
		if e.open == nil {
			continue
		}
		if n := next.entries[ref]; n == nil || n.open != e.open {
			_ = e.open.Release() // unmapping fails only for what is not mapped
		}
	}
}

// setOpen replaces the open version of a dataset in the live set; nil closes it. l.mu is held.
func (l *Library) setOpen(ref herb.Ref, v *openVersion) {
	next := *l.live.Load()
	next.entries = maps.Clone(next.entries)
	next.entries[ref] = &entry{live: next.entries[ref].live, open: v}
	l.replaceLive(&next)
}

// catalogueStatus is the state of reading the catalogue.
type catalogueStatus struct {
	mu        sync.Mutex
	lastRead  time.Time // last success
	lastTried time.Time // last attempt
	err       error     // of the last attempt
}

// record stores the result of a read and reports whether it changed between success and failure.
func (r *catalogueStatus) record(at time.Time, err error) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	changed = (err == nil) != (r.err == nil)
	if r.lastTried, r.err = at, err; err == nil {
		r.lastRead = at
	}
	return changed
}

// failedSince returns the error of the last attempt if that was after t.
func (r *catalogueStatus) failedSince(t time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lastTried.After(t) {
		return r.err
	}
	return nil
}

const (
	catalogueLimit = 20 * time.Second // timeout of a read
	catalogueWait  = 2 * time.Second  // timeout of a read in a request, on a node that can serve without it
	cataloguePause = 5 * time.Second  // how long requests do not retry after a failure
)

// current returns the live set. It reads the catalogue first if a change notification was received.
func (l *Library) current(ctx context.Context) (*liveSet, error) {
	s := l.live.Load()
	if s.generation >= 0 && !s.restored && !l.notifier.changed() {
		return s, nil
	}
	if l.cache == nil {
		return l.currentLocal(ctx, s)
	}
	if s.generation < 0 && l.status.failedSince(l.opts.Now().Add(-cataloguePause)) == nil {
		if err := l.Refresh(ctx); err != nil && s.generation < 0 {
			return nil, err
		}
		return l.live.Load(), nil
	}
	// A shared database can be down for long and slow to fail. One request checks for all.
	err := l.status.failedSince(l.opts.Now().Add(-cataloguePause))
	if s.generation < 0 {
		return nil, err
	}
	if err != nil || !l.refresh.TryLock() {
		return s, nil
	}
	defer l.refresh.Unlock()
	l.readCatalogueWithin(ctx, catalogueWait)
	return l.live.Load(), nil
}

// currentLocal is current without Blobs. Requests wait for the catalogue, never for versions of other datasets.
func (l *Library) currentLocal(ctx context.Context, s *liveSet) (*liveSet, error) {
	l.refresh.Lock()
	defer l.refresh.Unlock()
	if s.generation >= 0 && !l.notifier.changed() { // another request has read the catalogue meanwhile
		return l.live.Load(), nil
	}
	err := l.readCatalogue(ctx)
	l.recordCatalogueRead(ctx, err)
	if err != nil && s.generation < 0 {
		return nil, err
	}
	return l.live.Load(), nil
}

// poll reads the catalogue for Run and retries failed openings. Errors are logged and reported by Health.
func (l *Library) poll(ctx context.Context) {
	l.refresh.Lock()
	defer l.refresh.Unlock()
	l.readCatalogueWithin(ctx, catalogueLimit)
	if l.cache == nil {
		l.retryFailed()
	}
}

// readCatalogueWithin reads the catalogue with a timeout. l.refresh is held.
func (l *Library) readCatalogueWithin(ctx context.Context, limit time.Duration) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	l.recordCatalogueRead(ctx, l.readCatalogue(limited))
}

// Refresh updates the live set from the catalogue. Without Blobs, it returns when every version is open or has failed to
// open.
func (l *Library) Refresh(ctx context.Context) error {
	if err := l.syncCatalogue(ctx); err != nil {
		return err
	}
	return l.awaitOpenings(ctx)
}

func (l *Library) syncCatalogue(ctx context.Context) error {
	l.refresh.Lock()
	defer l.refresh.Unlock()
	err := l.readCatalogue(ctx)
	l.recordCatalogueRead(ctx, err)
	return err
}

// recordCatalogueRead records the result of a read, unless the caller left. l.refresh is held.
func (l *Library) recordCatalogueRead(ctx context.Context, err error) {
	if ctx.Err() != nil || !l.status.record(l.opts.Now(), err) {
		return
	}
	if err != nil {
		l.opts.Log.Error("cannot read catalogue; serving last known versions", "err", err)
		return
	}
	l.opts.Log.Info("catalogue is readable again")
}

// readCatalogue updates the live set if the catalogue has changed. l.refresh is held.
func (l *Library) readCatalogue(ctx context.Context) error {
	stamp := l.notifier.stamp() // before the read, so that no later notification is missed
	generation, err := l.catalogue.Generation(ctx)
	if err != nil {
		return err
	}
	old := l.live.Load()
	if generation == old.generation && !old.restored {
		l.notifier.acknowledge(stamp)
		return nil
	}
	datasets, err := l.catalogue.Datasets(ctx)
	if err != nil {
		return err
	}
	if l.cache == nil {
		l.applyLocalCatalogue(generation, datasets)
	} else {
		l.applySharedCatalogue(generation, datasets)
		l.saveCatalogueCopy()
	}
	l.notifier.acknowledge(stamp)
	return nil
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
