// Package library lists published datasets: it knows which version of each is live, fetches and
// opens its file, and searches descriptions and records of all datasets. Package versions makes the
// versions.
//
// # Consistency
//
// The catalogue, a table of the store, names the live version of each dataset; the file of a
// version is immutable. So a View keeps listing its version regardless of newer ones. Several
// processes may share a library: a process that changes the catalogue sends a change notification,
// which the others see at their next request.
//
// # Many datasets
//
// A library keeps the name of the live version of every dataset in memory, but the description and
// the mapped file of recently used ones only. It opens the others on demand. After a change of the
// catalogue it reads only the datasets that changed.
//
// # Many nodes
//
// With Blobs, files are stored in an object store for all nodes, and the folder of a library is a
// cache of them. A node lists the version it has until the next one was fetched completely and
// verified. While the catalogue or the object store is down, it continues to list the versions it
// has.
package library

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"herbarium/internal/background"
	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// Catalogue stores which versions are kept, and which one of each dataset is live.
type Catalogue interface {
	Changes(ctx context.Context, since int64) (store.Changes, error)
	Descriptions(ctx context.Context, versions []herb.LiveVersion, details bool) ([]herb.Dataset, error)
	ProtectedRefs(ctx context.Context) ([]herb.Ref, error)
	Words(ctx context.Context, since int64) ([]store.VersionWords, error)
	Version(ctx context.Context, ref herb.Ref, version string) (herb.Dataset, error)
	History(ctx context.Context, ref herb.Ref) (store.DatasetVersions, error)
	ListVersions(ctx context.Context, ref herb.Ref) (herb.VersionList, error)
	LabeledVersion(ctx context.Context, ref herb.Ref, label string) (string, error)
	Claim(ctx context.Context, name, holder string, now, until time.Time) (claimed bool, err error)
	EndClaim(ctx context.Context, name, holder string, now time.Time) error
}

// Blobs stores the files of versions for all nodes. Its objects belong to one catalogue.
type Blobs interface {
	// Put stores a local file under a name, atomically. progress is called with bytes done and in
	// total; nil disables it.
	Put(ctx context.Context, name, path string, progress func(done, total int64)) error
	// Get writes the object with a name to a writer. The error has herb.CodeNotFound if it does not
	// exist and herb.CodeUnavailable if the store is down or the transfer stalls; an error of the
	// writer is returned unchanged.
	Get(ctx context.Context, name string, to io.Writer) error
}

// Mutable is a dataset that is not published but changes with every write, such as the plant store.
type Mutable interface {
	// Describe returns the current description, with version and record count.
	Describe(ctx context.Context) (herb.Dataset, error)
	// Acquire returns the current records.
	Acquire(ctx context.Context) (View, error)
}

// Options configures a library.
type Options struct {
	Dir    string  // folder of the segment files; it must exist
	Plants Mutable // the dataset herb.PlantsRef; nil if there is none
	// PlantsAccess determines who may read the plants; empty means AccessOpen.
	PlantsAccess herb.Access
	Now          func() time.Time // nil means time.Now
	Log          *slog.Logger     // nil disables logging
	Program      string           // release of this program, which its files name; may be empty
	Memory       int              // bytes for sorting in a publish before it spills to disk; 0 means the default of segment.Options
	FS           filesystem.FS    // file operations; nil means filesystem.OS

	OpenSize    int // bytes of memory of open versions that no request uses, estimated; 0 means DefaultOpenSize
	SummarySize int // bytes of memory of cached descriptions, estimated; 0 means DefaultSummarySize

	Blobs Blobs // object store of the files, shared by all nodes; nil if Dir is the only store
	// CacheSize limits the bytes of files in Dir if there are Blobs; 0 means unlimited. Files being
	// fetched are not counted, and one dataset is kept regardless of its size.
	CacheSize int64
	// Free returns the free disk space of a folder; nil means filesystem.DiskSpace.
	Free func(dir string) (free, total uint64, ok bool)
	// Wait is how long a request waits for a version that is being opened or a Parquet file that is
	// being built; 0 means background.MaxWait, and a negative duration means until its context is
	// done.
	Wait time.Duration
}

// Defaults of Options.
const (
	DefaultOpenSize    = 8 << 20
	DefaultSummarySize = 16 << 20
)

// Library manages published datasets. It is safe for concurrent use.
type Library struct {
	catalogue Catalogue
	opts      Options
	node      string // identifies this process in claims
	notifier  *notifier
	refresh   sync.Mutex                      // held while reading the catalogue
	status    atomic.Pointer[catalogueStatus] // written with refresh held
	plants    lastKnown
	summaries *summaryCache
	openFile  func(path string) (*segment.Reader, error)
	counters  *counters

	readingWords *semaphore.Weighted // guards wordsRead; unlike with a mutex, waiting ends with a request
	wordsRead    int64               // generation of the catalogue whose words were read; negative: none were

	mu        sync.RWMutex // guards the fields below and those of entries; not held while files are read, written, removed or unmapped
	entries   map[versionKey]*entry
	sorted    []*entry // of datasets, by ref
	openSize  int      // memory of open versions, estimated
	closing   []func() // close versions that are not open any more; unlock calls them
	withdrawn map[string]bool
	cache     *cache

	rebuilds *rebuilds
	pool     *background.Pool
	derived  derivedFiles
	labels   labels
}

// View is an open version of a dataset. It must be released.
type View struct {
	herb.Dataset
	query.Engine
	Close  func()          // nil if there is nothing to release
	Reader *segment.Reader // nil if the dataset is mutable
	Kept   bool            // the source was sent to the server and is kept with the version
}

// Explain returns the steps in which a listing of a published dataset is computed.
func (v View) Explain(ctx context.Context, q *query.Request) (segment.Explanation, error) {
	if v.Reader == nil {
		return segment.Explanation{}, herb.Invalidf("%s is listed from the database; only published datasets can be explained", v.Ref)
	}
	return v.Reader.Explain(ctx, q)
}

// Release closes the view and invalidates everything listed from it. The version may be deleted
// afterwards.
func (v View) Release() {
	if v.Close != nil {
		v.Close()
	}
}

// Open opens a library. It does not read the catalogue; the first request does.
func Open(catalogue Catalogue, opts Options) (*Library, error) {
	opts.Wait = cmp.Or(opts.Wait, background.MaxWait)
	opts.PlantsAccess = cmp.Or(opts.PlantsAccess, herb.AccessOpen)
	opts.OpenSize = cmp.Or(opts.OpenSize, DefaultOpenSize)
	opts.SummarySize = cmp.Or(opts.SummarySize, DefaultSummarySize)
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	opts.FS = cmp.Or[filesystem.FS](opts.FS, filesystem.OS{})
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Free == nil {
		opts.Free = filesystem.DiskSpace
	}
	n, err := openNotifier(opts.FS, filepath.Join(opts.Dir, store.ChangedFile))
	if err != nil {
		return nil, err
	}
	l := &Library{
		catalogue: catalogue, opts: opts, node: rand.Text(), notifier: n, openFile: openLocal, cache: newCache(), rebuilds: newRebuilds(), pool: background.New(opts.Log), entries: map[versionKey]*entry{}, withdrawn: map[string]bool{},
		readingWords: semaphore.NewWeighted(1), wordsRead: -1, summaries: newSummaryCache(opts.SummarySize), counters: newCounters(),
	}
	l.plants.dataset = herb.Dataset{Ref: herb.PlantsRef, Access: opts.PlantsAccess}
	l.status.Store(&catalogueStatus{generation: -1})
	if !l.shared() {
		l.opts.CacheSize = 0
		return l, nil
	}
	l.loadCatalogueCopy()
	if err := l.scanCache(); err != nil {
		return nil, errors.Join(fmt.Errorf("scanning the cache: %w", err), n.file.Close())
	}
	return l, nil
}

// unlock unlocks mu and then closes the versions that are not open any more: unmapping a file can
// take as long as I/O.
func (l *Library) unlock() {
	closing := l.closing
	l.closing = nil
	l.mu.Unlock()
	for _, closeVersion := range closing {
		closeVersion()
	}
}

// shared reports whether the files are in an object store that nodes share, and Dir is a cache of
// it.
func (l *Library) shared() bool { return l.opts.Blobs != nil }

// IsMutable reports whether a dataset is the mutable one.
func (l *Library) IsMutable(ref herb.Ref) bool { return l.opts.Plants != nil && ref == herb.PlantsRef }

// Close cancels fetches and closes all open versions. Views stay valid until they are released.
func (l *Library) Close() error {
	l.refresh.Lock()
	defer l.refresh.Unlock()
	l.mu.Lock()
	l.cache.cancel() // no fetch starts afterwards
	l.mu.Unlock()
	l.pool.Close()
	l.cache.running.Wait()
	l.mu.Lock()
	defer l.unlock()
	for _, e := range l.entries {
		l.setOpen(e, nil)
	}
	return l.notifier.file.Close()
}

// Acquire returns the live version of a dataset; the caller must release it. While the live version
// is being fetched, it returns an older open one; if there is none, it waits for the fetch. If Dir
// has all files, it always waits, up to Options.Wait, so that the request after a publish lists the
// new version.
func (l *Library) Acquire(ctx context.Context, ref herb.Ref) (View, error) {
	if l.IsMutable(ref) {
		return l.opts.Plants.Acquire(ctx)
	}
	return l.acquire(ctx, versionKey{ref: ref})
}

// AcquireVersion returns a version of a dataset that is in the catalogue, live or not, by its name
// or a label; the caller must release it. The error has herb.CodeGone if it is not in the
// catalogue, and herb.CodeInvalid if the name is malformed or the dataset is mutable. The access of
// the view is that of the version; that of the live version may differ.
func (l *Library) AcquireVersion(ctx context.Context, ref herb.Ref, version string) (View, error) {
	version, err := l.ResolveVersion(ctx, ref, version)
	if err != nil {
		return View{}, err
	}
	return l.acquire(ctx, versionKey{ref, version})
}

func (l *Library) acquire(ctx context.Context, key versionKey) (View, error) {
	if err := l.updateEntries(ctx); err != nil {
		return View{}, err
	}
	l.mu.RLock()
	live, e := l.entries[versionKey{ref: key.ref}], l.entries[key]
	if live != nil && live.open != nil && live.open.dataset.Version == key.version {
		e = live // a named version that is open already
	}
	confirmed := e != nil && (!e.named || e.generation == l.status.Load().generation)
	if confirmed && e.open != nil && e.open.dataset.Version == cmp.Or(key.version, e.Version) && e.open.Acquire() {
		defer l.mu.RUnlock()
		return l.view(e), nil
	}
	l.mu.RUnlock()
	if live == nil {
		return View{}, l.unknownDataset(key.ref)
	}
	if !confirmed {
		if err := l.checkNamed(ctx, key); err != nil {
			return View{}, err
		}
	}
	return l.awaitFetch(ctx, key)
}

// resyncEvery is the interval at which Run reads the complete catalogue.
const resyncEvery = 5 * time.Minute

// Run polls the catalogue for changes without a notification, retries failed fetches and maintains
// the cache, until ctx is done.
func (l *Library) Run(ctx context.Context) error {
	var running sync.WaitGroup
	running.Go(func() { every(ctx, time.Second, func() { _ = l.poll(ctx, false) }) }) // it logs errors, and Health reports them
	// A database that was restored or failed over may have lost changes that this process has seen.
	running.Go(func() { every(ctx, resyncEvery, func() { _ = l.poll(ctx, true) }) })
	running.Go(func() { every(ctx, time.Second, func() { l.maintainCache(ctx) }) })
	running.Go(func() { l.rebuildLive(ctx) })
	running.Wait()
	return nil
}

// every calls do at an interval until ctx is done.
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

// Health is the state of a library. Each dataset of the catalogue is counted once, as Open,
// Fetching, Failed or Cold.
type Health struct {
	Read     time.Time // last successful read of the catalogue; zero if there was none
	Err      error     // error of the last read; nil if it succeeded or there was none
	Restored bool      // the live set is the copy saved by an earlier run; the catalogue was not read yet

	Open     int // the live version is open
	Fetching int // the live version is being fetched or opened
	Failed   int // the live version could not be fetched or opened; the log has the reason
	Cold     int // the live version is fetched on demand
	Behind   int // an older version is open instead of the live one; also counted as Fetching, Failed or Cold

	Reasons map[Reason]int // of Failed

	Outdated int // live versions whose index another release has built and that are not rebuilt yet, as far as they are known
	Pending  int // of Outdated: no version of the dataset can be listed until the index is rebuilt or fetched
	Rebuilt  int // indexes that this process has rebuilt
}

// CanList reports whether the library has a live set and can list at least one dataset of it, or
// the live set is empty.
func (h Health) CanList() bool {
	can := h.Open + h.Behind + h.Fetching + h.Cold
	return (h.Restored || !h.Read.IsZero()) && (can > 0 || h.Failed == 0)
}

// Health returns the state of the library. It does no I/O.
func (l *Library) Health() Health {
	status := l.status.Load()
	h := Health{Read: status.lastRead, Err: status.err, Restored: status.restored, Reasons: map[Reason]int{}}
	h.Rebuilt = int(l.rebuilds.rebuilt.Load())
	l.mu.RLock()
	defer l.mu.RUnlock()
	l.rebuilds.mu.Lock()
	defer l.rebuilds.mu.Unlock()
	for _, e := range l.sorted {
		if l.rebuilds.outdated[e.Version] {
			h.Outdated++
			if e.open == nil && e.failed == nil {
				h.Pending++
			}
		}
		if e.open != nil && !e.isOpen() {
			h.Behind++
		}
		switch {
		case e.isOpen():
			h.Open++
		case e.failed != nil: // a retry may be running
			h.Failed++
			h.Reasons[e.failed.reason]++
		case e.fetch != nil:
			h.Fetching++
		default:
			h.Cold++
		}
	}
	return h
}
