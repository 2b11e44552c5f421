// Package library lists published datasets: it knows which version of each is live, fetches and
// opens its file, and searches descriptions and records of all datasets. Package versions makes the
// versions.
//
// # What is decided where
//
// The catalogueReader decides when the catalogue is read and what is known while it is down. The
// table is what requests read: which version of each dataset is listed, and which are closed. The
// fetcher decides which versions are opened, in which order, and when again after a failure; the
// rebuilder opens those that another release has published. The cache knows the files in the folder
// and which of them may go. derivedFiles are made of records on demand: Parquet files and
// comparisons. withdrawals removes everything of a version that must not be read any more. The lock
// of the table, which every request takes, is never held during I/O; the others are taken after it.
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
	// bytes for sorting in a publish before it spills to disk; 0 means the default of
	// segment.Options
	Memory int
	FS     filesystem.FS // file operations; nil means filesystem.OS

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
	*folder
	*search
	*derivedFiles
	withdrawals
	opts      Options
	catalogue *catalogueReader
	table     *table
	cache     *cache
	rebuilder *rebuilder
	fetcher   *fetcher
	counters  *counters
	pool      *background.Pool
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
		return segment.Explanation{},
			herb.Invalidf("%s is listed from the database; only published datasets can be explained", v.Ref)
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
	if opts.Blobs == nil {
		opts.CacheSize = 0
	}
	l := newLibrary(catalogue, opts, n)
	if !l.shared() {
		return l, nil
	}
	l.catalogue.loadCatalogueCopy()
	if err := l.cache.scan(); err != nil {
		return nil, errors.Join(fmt.Errorf("scanning the cache: %w", err), n.file.Close())
	}
	return l, nil
}

// newLibrary joins the parts of a library.
func newLibrary(catalogue Catalogue, opts Options, n *notifier) *Library {
	files := &folder{dir: opts.Dir, fs: opts.FS, blobs: opts.Blobs, log: opts.Log, openFile: openLocal}
	l := &Library{
		folder: files, opts: opts, counters: newCounters(), pool: background.New(opts.Log),
		table: newTable(files.shared(), opts.OpenSize),
	}
	l.cache = newCache(files, opts.CacheSize, l.counters)
	l.withdrawals = withdrawals{l.table, l.cache}
	described := &descriptions{table: l.table, folder: files, mutable: opts.Plants,
		summaries: newSummaryCache(opts.SummarySize)}
	described.plants.dataset = herb.Dataset{Ref: herb.PlantsRef, Access: opts.PlantsAccess}
	l.catalogue = &catalogueReader{
		Catalogue: catalogue, folder: files, table: l.table, plants: &described.plants, now: opts.Now,
		apply: l.applyChanges, notifier: n,
	}
	l.catalogue.status.Store(&catalogueStatus{generation: -1})
	described.catalogue = l.catalogue
	l.search = &search{descriptions: described, readingWords: semaphore.NewWeighted(1), wordsRead: -1}
	l.rebuilder = &rebuilder{
		folder: files, cache: l.cache, claims: claims{catalogue, rand.Text(), opts.Now}, counters: l.counters,
		memory: opts.Memory, program: opts.Program,
		background: make(chan struct{}, 1), requested: make(chan struct{}, 1), outdated: map[string]bool{},
	}
	l.fetcher = &fetcher{
		folder: files, withdrawals: l.withdrawals, counters: l.counters, rebuilder: l.rebuilder,
		describe: described.describeVersion,
		now:      opts.Now, wait: opts.Wait, prefetchSlots: make(chan struct{}, maxPrefetches),
		requestSlots: make(chan struct{}, maxRequestedFetches),
	}
	l.fetcher.ctx, l.fetcher.cancel = context.WithCancel(context.Background())
	l.derivedFiles = &derivedFiles{
		folder: files, withdrawals: l.withdrawals, pool: l.pool, wait: opts.Wait, free: opts.Free,
		update: l.catalogue.updateEntries,
	}
	return l
}

// Close cancels fetches and closes all open versions. Views stay valid until they are released.
func (l *Library) Close() error {
	l.catalogue.refresh.Lock()
	defer l.catalogue.refresh.Unlock()
	l.fetcher.close()
	l.pool.Close()
	l.table.mu.Lock()
	for _, e := range l.table.entries {
		l.table.setOpen(e, nil)
	}
	l.table.unlock()
	return l.catalogue.notifier.file.Close()
}

// applyChanges updates the table, starts fetching the versions that went live, and removes those
// that were withdrawn.
func (l *Library) applyChanges(changes store.Changes) {
	l.table.mu.Lock()
	l.table.apply(changes)
	for _, e := range l.table.sorted {
		l.fetcher.fetchIfOutdated(e)
	}
	l.table.unlock()
	if err := l.RemoveWithdrawn(changes.Withdrawn...); err != nil {
		l.log.Warn("cannot remove the files of withdrawn versions; will retry", "err", err)
	}
}

// NotifyChange signals other processes that the catalogue changed.
func (l *Library) NotifyChange() { l.catalogue.notifyChange() }

// AddFile records a segment file that is in Dir and in Blobs.
func (l *Library) AddFile(name string, size int64) { l.cache.add(name, size, true) }

// SetStored records which segment files are in Blobs. Eviction spares the others.
func (l *Library) SetStored(names map[string]bool) { l.cache.setStored(names) }

// RescanCache lists the files in Dir again after some were removed, and saves the last known
// description of the mutable dataset.
func (l *Library) RescanCache() error {
	err := l.cache.scan()
	l.catalogue.refresh.Lock()
	defer l.catalogue.refresh.Unlock()
	l.catalogue.saveCatalogueCopy()
	return err
}

// Acquire returns the live version of a dataset; the caller must release it. While the live version
// is being fetched, it returns an older open one; if there is none, it waits for the fetch. If Dir
// has all files, it always waits, up to Options.Wait, so that the request after a publish lists the
// new version.
func (l *Library) Acquire(ctx context.Context, ref herb.Ref) (View, error) {
	if l.IsMutable(ref) {
		return l.mutable.Acquire(ctx)
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
	if err := l.catalogue.updateEntries(ctx); err != nil {
		return View{}, err
	}
	l.table.mu.RLock()
	live, e := l.table.entries[versionKey{ref: key.ref}], l.table.entries[key]
	if live != nil && live.open != nil && live.open.dataset.Version == key.version {
		e = live // a named version that is open already
	}
	confirmed := e != nil && (!e.named || e.generation == l.catalogue.status.Load().generation)
	if confirmed && e.open != nil && e.open.dataset.Version == cmp.Or(key.version, e.Version) && e.open.Acquire() {
		defer l.table.mu.RUnlock()
		return l.table.view(e), nil
	}
	l.table.mu.RUnlock()
	if live == nil {
		return View{}, l.unknownDataset(key.ref)
	}
	if !confirmed {
		if err := l.checkNamed(ctx, key); err != nil {
			return View{}, err
		}
	}
	return l.fetcher.awaitFetch(ctx, key)
}

// isMissing reports whether the catalogue has no such dataset or version.
func isMissing(err error) bool {
	return herb.CodeOf(err) == herb.CodeNotFound || herb.CodeOf(err) == herb.CodeGone
}

// checkNamed looks up a version in the catalogue and adds it to the entries, or removes it. While
// the catalogue is down, a node uses its copy of the description, if it has one.
func (l *Library) checkNamed(ctx context.Context, key versionKey) error {
	generation := l.catalogue.status.Load().generation
	limited, cancel := context.WithTimeout(ctx, catalogueWait)
	defer cancel()
	d, err := l.catalogue.Version(limited, key.ref, key.version)
	if err != nil && l.shared() && !isMissing(err) && ctx.Err() == nil {
		if copied, failed := l.loadDescription(herb.LiveVersion{Ref: key.ref, Version: key.version}); failed == nil {
			d, err = copied, nil
		}
	}
	l.table.mu.Lock()
	defer l.table.unlock()
	if isMissing(err) {
		l.table.removeEntry(key)
	}
	if err != nil || l.fetcher.ctx.Err() != nil {
		return err
	}
	e := l.table.entries[key]
	if e == nil {
		v := herb.LiveVersion{Ref: key.ref, Version: key.version, Records: d.Records, Published: d.Published}
		e = &entry{named: true, LiveVersion: v}
		l.table.entries[key] = e
	}
	if d.File != nil {
		e.size = d.File.Size
	}
	e.generation, e.checkedAt = generation, l.table.epoch.Load()
	return nil
}

// Refresh updates the entries from the catalogue. If Dir has all files, it opens the datasets of a
// small library and returns when every version that is being opened is open, has failed to open, or
// has to be rebuilt.
func (l *Library) Refresh(ctx context.Context) error {
	if err := l.catalogue.poll(ctx, false); err != nil || l.shared() {
		return err
	}
	var running []*fetch
	l.table.mu.Lock()
	for _, e := range l.table.sorted {
		l.fetcher.prefetch(e, 0)
		if e.fetch != nil {
			running = append(running, e.fetch)
		}
	}
	l.table.mu.Unlock()
	for _, f := range running {
		select {
		case <-f.Ended():
		case <-f.rebuilding:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// resyncEvery is the interval at which Run reads the complete catalogue.
const resyncEvery = 5 * time.Minute

// Run polls the catalogue for changes without a notification, retries failed fetches and maintains
// the cache, until ctx is done.
func (l *Library) Run(ctx context.Context) error {
	var running sync.WaitGroup
	// it logs errors, and Health reports them
	running.Go(func() { every(ctx, time.Second, func() { _ = l.catalogue.poll(ctx, false) }) })
	// A database that was restored or failed over may have lost changes that this process has seen.
	running.Go(func() { every(ctx, resyncEvery, func() { _ = l.catalogue.poll(ctx, true) }) })
	running.Go(func() { every(ctx, time.Second, func() { l.fetcher.maintain(ctx) }) })
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
