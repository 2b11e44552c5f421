// Package library keeps the published datasets: which version of each is live, where its file is, and how a new one takes
// its place.
//
// # Consistency
//
// The catalogue, a table of the store, says which version of a dataset is live; a version's file never changes. So a
// publish is one transaction after the file is complete, and a reader that has acquired a snapshot keeps listing that
// version however many newer ones appear. Several processes may share a library: one that changes the catalogue rings a
// bell that the others hear on their next look-up.
//
// # Many nodes
//
// With Blobs, files are kept for all nodes in a store of objects, and the folder of a library is its node's cache of them.
// A node lists the version that it has until it has the next one, whole and checked. Whatever is away, the catalogue or
// the objects, it goes on listing what it has.
package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// Catalogue is where the library writes down what is published.
type Catalogue interface {
	Generation(ctx context.Context) (int64, error)
	Datasets(ctx context.Context) ([]herb.Dataset, error)
	Version(ctx context.Context, ref herb.Ref, version string) (herb.Dataset, error)
	AddVersion(ctx context.Context, d herb.Dataset, live string) error
	SetLive(ctx context.Context, ref herb.Ref, version, live string) error
	RemoveDataset(ctx context.Context, ref herb.Ref, at time.Time) error
	History(ctx context.Context, ref herb.Ref) ([]store.Version, error)
	PruneVersions(ctx context.Context, ref herb.Ref, keep int, at time.Time) ([]string, error)
	Versions(ctx context.Context) ([]string, error)
	RetireVersion(ctx context.Context, version string, at time.Time) (bool, error)
	Retired(ctx context.Context) ([]store.Retired, error)
	ForgetRetired(ctx context.Context, versions []string) error
}

// Blobs is where the files of versions are kept for all nodes. What is in it belongs to one catalogue.
type Blobs interface {
	// Put stores a local file under a name, whole or not at all. progress (nil: nobody) is told bytes done and in all.
	Put(ctx context.Context, name, path string, progress func(done, total int64)) error
	// Get writes what is stored under a name. The error has herb.CodeNotFound if there is nothing and
	// herb.CodeUnavailable if the store does not answer.
	Get(ctx context.Context, name string, to io.Writer) error
	// Delete removes what is stored under a name. It is no error if there is nothing.
	Delete(ctx context.Context, name string) error
	List(ctx context.Context) iter.Seq2[herb.Blob, error]
}

// Source lists the records of one dataset.
type Source interface {
	List(ctx context.Context, r *query.Request) (query.Page, error)
	// Stream finds everything that meets a request, whatever page it names.
	Stream(ctx context.Context, r *query.Request) (query.Stream, error)
	// Facets counts the values of fields among the records that meet a request.
	Facets(ctx context.Context, r *query.FacetRequest) (query.Facets, error)
}

// Living is a dataset that is not published but grows by itself.
type Mutable interface {
	Source
	// Describe returns the dataset as it is now, with its version and count.
	Describe(ctx context.Context) (herb.Dataset, error)
}

// Options of a library.
type Options struct {
	Dir     string               // where the files of versions are; it must exist
	Mutable map[herb.Ref]Mutable // datasets that live elsewhere
	Keep    int                  // versions to keep of each dataset; 0: DefaultKeep
	Now     func() time.Time     // nil: time.Now
	Log     *slog.Logger         // nil: no log

	Memory int        // bytes that a publish may sort in before it writes parts to disk; 0: as segment.Options
	FS     segment.FS // how files are written and removed; nil: segment.OS

	// Blobs keeps the files for all nodes; nil: those in Dir are all there are, and what follows has no effect.
	Blobs Blobs
	// CacheSize is how many bytes of files are kept in Dir; 0: any number. What is being fetched comes on top, and one
	// dataset is kept whatever its size.
	CacheSize int64
	// Retention is how long the file of a version outlives its place in the catalogue, for nodes that have not heard of
	// that; 0: DefaultRetention.
	Retention time.Duration
	// Wait is how long a request waits for a version that is being fetched; 0: DefaultWait; negative: as long as its
	// context lasts.
	Wait time.Duration
}

// What holds where Options say nothing.
const (
	DefaultKeep      = 5 // versions of a dataset, the live one included
	DefaultRetention = 24 * time.Hour
	DefaultWait      = 10 * time.Second
)

// Library is safe for use by any number of goroutines.
type Library struct {
	catalogue Catalogue
	opts      Options
	notifier  *notifier
	refresh   sync.Mutex // held while the catalogue is read
	mu        sync.Mutex // held while the shelf is replaced and while cache is looked at; never for long
	live      atomic.Pointer[liveSet]
	status    catalogueStatus
	mutable   map[herb.Ref]*lastKnown
	cache     *cache // nil without Blobs

	openFile  func(path string) (*segment.Reader, error)
	openings  sync.WaitGroup // of versions that are being opened, without Blobs
	openSlots chan struct{}
}

// Snapshot is one version of a dataset, to be listed until it is released.
type Snapshot struct {
	herb.Dataset
	Source
	held *segment.Reader
}

// Release gives the snapshot back, with all that was listed from it. The version may be gone afterwards.
func (s Snapshot) Release() {
	if s.held != nil {
		_ = s.held.Release() // unmapping fails only for what is not mapped
	}
}

// Open opens a library. The catalogue is not read before the first look-up.
func Open(catalogue Catalogue, opts Options) (*Library, error) {
	opts.Keep = cmp.Or(opts.Keep, DefaultKeep)
	opts.Retention = cmp.Or(opts.Retention, DefaultRetention)
	opts.Wait = cmp.Or(opts.Wait, DefaultWait)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.FS == nil {
		opts.FS = segment.OS{}
	}
	b, err := openNotifier(opts.FS, filepath.Join(opts.Dir, notificationFile))
	if err != nil {
		return nil, err
	}
	l := &Library{catalogue: catalogue, opts: opts, notifier: b, mutable: map[herb.Ref]*lastKnown{},
		openFile: openSegment, openSlots: make(chan struct{}, maxOpenings)}
	for ref := range opts.Mutable {
		l.mutable[ref] = &lastKnown{dataset: herb.Dataset{Ref: ref, Access: herb.AccessOpen}}
	}
	l.live.Store(&liveSet{generation: -1})
	if opts.Blobs != nil {
		l.cache = newCache()
		l.loadCatalogueCopy()
		if err := l.scanCache(); err != nil {
			return nil, errors.Join(fmt.Errorf("looking for files of versions: %w", err), b.Close())
		}
	}
	return l, nil
}

// Close gives back what the library holds open and gives up what it fetches. Snapshots stay good until they are released.
func (l *Library) Close() error {
	l.refresh.Lock()
	defer l.refresh.Unlock()
	if l.cache != nil {
		l.stopFetching()
	}
	l.mu.Lock()
	l.replaceLive(&liveSet{generation: -1}) // openings that are under way are not wanted any more
	l.mu.Unlock()
	l.openings.Wait()
	return l.notifier.Close()
}

// Acquire returns the live version of a dataset, to be released by the caller. Where this node has another version of it,
// that one is returned until the live one is there; where it has none, the live one is fetched.
func (l *Library) Acquire(ctx context.Context, ref herb.Ref) (Snapshot, error) {
	if living, ok := l.opts.Mutable[ref]; ok {
		d, err := living.Describe(ctx)
		return Snapshot{Dataset: d, Source: living}, err
	}
	for {
		s, err := l.current(ctx)
		if err != nil {
			return Snapshot{}, err
		}
		e, ok := s.entries[ref]
		if ok && l.cache == nil {
			snap, again, err := l.acquireLocal(ctx, e)
			if again {
				continue
			}
			return snap, err
		}
		switch {
		case !ok:
			return Snapshot{}, l.unknownDataset(ref, s)
		case e.open == nil:
			return l.awaitFetch(ctx, ref)
		case e.open.Acquire():
			l.cache.touch(e.open)
			return e.open.snapshot(), nil
		}
		// It was let go of since the shelf was looked at, so there is a newer shelf.
	}
}

// Run notices changes of the catalogue that were made without the bell, and keeps the cache and the blobs in order, until
// ctx ends.
func (l *Library) Run(ctx context.Context) error {
	var running sync.WaitGroup
	running.Go(func() { every(ctx, time.Second, func() { l.poll(ctx) }) })
	if l.cache == nil {
		running.Go(func() { l.sweepRegularly(ctx) })
	} else {
		running.Go(func() { every(ctx, time.Second, l.maintainCache) })
		running.Go(func() { l.cleanUp(ctx) })
	}
	running.Wait()
	return nil
}

// every calls do again and again until ctx ends.
func every(ctx context.Context, d time.Duration, do func()) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do()
		}
	}
}
