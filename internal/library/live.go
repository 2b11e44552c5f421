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

// shelf is what is live at one moment. It is replaced, never changed.
type liveSet struct {
	generation int64 // of the catalogue; negative: it was never read
	restored   bool  // it is what this node knew when it last ran
	sequence   int64 // how many times another catalogue was read before, with Blobs
	entries    map[herb.Ref]*entry
}

// entry is a dataset on a shelf.
type entry struct {
	live herb.Dataset // as the catalogue has it
	open *openVersion // what is listed, perhaps not the live version; nil: nothing

	// The following are used without Blobs.
	opening *opening // the live version is being opened; nil: it is open, or waits for a retry
	failed  *failure // why the live version could not be opened the last time; nil: it was not tried, or is open
}

// dataset describes what is listed, or would be. A version that is being opened counts: requests wait for it.
func (e *entry) dataset() herb.Dataset {
	if e.open != nil && !e.awaited() {
		return e.open.dataset
	}
	return publicDescription(e.live)
}

// current reports whether the live version is what is listed.
func (e *entry) current() bool { return e.open != nil && e.open.dataset.Version == e.live.Version }

// volume is a version that is open on this node.
type openVersion struct {
	*segment.Reader
	dataset  herb.Dataset // as forReaders returns it
	sequence int64        // of the last shelf for which it was the live version; guarded by Library.mu
	lastUsed atomic.Int64 // when it was last acquired, as cache counts time
}

// snapshot returns what a holder of the volume lists.
func (v *openVersion) snapshot() Snapshot { return Snapshot{v.dataset, v.Reader, v.Reader} }

// newVolume returns a volume of a reader that the caller holds.
func newOpenVersion(d herb.Dataset, r *segment.Reader) *openVersion {
	return &openVersion{Reader: r, dataset: publicDescription(d)}
}

// forReaders returns a description without what only the library needs.
func publicDescription(d herb.Dataset) herb.Dataset {
	d.File, d.Origins = nil, nil
	return d
}

// replace puts a new shelf in the place of the old one and lets go of the versions that are not in it. l.mu is held.
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

// put replaces the shelf by one with another volume, or none, of a dataset that is on it. l.mu is held.
func (l *Library) setOpen(ref herb.Ref, v *openVersion) {
	next := *l.live.Load()
	next.entries = maps.Clone(next.entries)
	next.entries[ref] = &entry{live: next.entries[ref].live, open: v}
	l.replaceLive(&next)
}

// reading is what is known of reading the catalogue.
type catalogueStatus struct {
	mu        sync.Mutex
	lastRead  time.Time // when it was last read well
	lastTried time.Time // when it was last tried
	err       error     // of the last time
}

// note takes down how reading the catalogue went at a time, and reports whether that differs from the last time.
func (r *catalogueStatus) record(at time.Time, err error) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	changed = (err == nil) != (r.err == nil)
	if r.lastTried, r.err = at, err; err == nil {
		r.lastRead = at
	}
	return changed
}

// failedSince returns the error of the last attempt if that was later than a time.
func (r *catalogueStatus) failedSince(t time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lastTried.After(t) {
		return r.err
	}
	return nil
}

const (
	catalogueLimit = 20 * time.Second // how long reading the catalogue may take
	catalogueWait  = 2 * time.Second  // how long a request waits for it on a node that has something to list without it
	cataloguePause = 5 * time.Second  // how long requests do not ask after it has failed
)

// current returns the shelf, replaced first if the bell has rung.
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
	// A database that many nodes share can be away for long, and slow to say so. One request finds out for all.
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

// currentHere is current without Blobs. Requests wait for the catalogue, never for versions of other datasets.
func (l *Library) currentLocal(ctx context.Context, s *liveSet) (*liveSet, error) {
	l.refresh.Lock()
	defer l.refresh.Unlock()
	if s.generation >= 0 && !l.notifier.changed() { // another request has read the catalogue since
		return l.live.Load(), nil
	}
	err := l.readCatalogue(ctx)
	l.recordCatalogueRead(ctx, err)
	if err != nil && s.generation < 0 {
		return nil, err
	}
	return l.live.Load(), nil
}

// poll reads the catalogue, as Run does it, and retries what could not be opened. Errors are in the log and in Health.
func (l *Library) poll(ctx context.Context) {
	l.refresh.Lock()
	defer l.refresh.Unlock()
	l.readCatalogueWithin(ctx, catalogueLimit)
	if l.cache == nil {
		l.retryFailed()
	}
}

// lookWithin reads the catalogue if that does not take too long. l.refresh is held.
func (l *Library) readCatalogueWithin(ctx context.Context, limit time.Duration) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	l.recordCatalogueRead(ctx, l.readCatalogue(limited))
}

// Refresh brings what is served in line with the catalogue. Without Blobs, it returns when every version is open or has
// failed to open.
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

// report takes down how reading the catalogue went, unless it was the reader who left. l.refresh is held.
func (l *Library) recordCatalogueRead(ctx context.Context, err error) {
	if ctx.Err() != nil || !l.status.record(l.opts.Now(), err) {
		return
	}
	if err != nil {
		l.opts.Log.Error("the catalogue cannot be read; what was read before is still served", "err", err)
		return
	}
	l.opts.Log.Info("the catalogue can be read again")
}

// look reads the catalogue if it has changed. l.refresh is held.
func (l *Library) readCatalogue(ctx context.Context) error {
	heard := l.notifier.stamp() // before the catalogue is read: a later ring must not be missed
	generation, err := l.catalogue.Generation(ctx)
	if err != nil {
		return err
	}
	old := l.live.Load()
	if generation == old.generation && !old.restored {
		l.notifier.acknowledge(heard)
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
	l.notifier.acknowledge(heard)
	return nil
}

// smallSegment is the size up to which a segment is read through when it is opened. A larger one would delay the start;
// it was checked when it was published, and when it was fetched.
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
