package library

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"herbarium/internal/background"
	"herbarium/internal/contenthash"
	"herbarium/internal/filesystem"
	"herbarium/internal/geo"
	"herbarium/internal/herb"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// The file of a version stays as it was published. If another release has published it, its index
// may be one that this program does not read. This program then builds a file with the same records
// and its own index beside it, whose name carries that index, so that programs of several releases
// can share a folder or an object store: each reads what it can and replaces nothing.

// RebuiltName returns the name of the file with the index of this program for a version that
// another release has published.
func RebuiltName(version string) string { return store.RebuiltFile(version, segment.CurrentIndex()) }

// IsCurrent reports whether this program builds and reads a derived file.
func IsCurrent(f store.VersionFile) bool {
	name := f.Name()
	if f.Kind == store.ComparisonKind {
		return strings.HasSuffix(f.Index, fmt.Sprintf("-c%d", segment.ComparisonLayout))
	}
	return name == RebuiltName(f.Version) || name == ParquetName(f.Version, false) || name == ParquetName(f.Version, true)
}

func (l *Library) rebuiltFile(version string) string {
	return filepath.Join(l.opts.Dir, RebuiltName(version))
}

// rebuilds limits concurrent rebuilds, and counts them.
type rebuilds struct {
	background chan struct{} // slot of rebuilds that no request waits for
	requested  chan struct{} // additional slot of rebuilds that requests wait for

	mu       sync.Mutex
	outdated map[string]bool // versions without an index of this program, as far as they are known

	rebuilt atomic.Int64 // completed rebuilds
}

func newRebuilds() *rebuilds {
	return &rebuilds{background: make(chan struct{}, 1), requested: make(chan struct{}, 1), outdated: map[string]bool{}}
}

// acquireSlot waits for a slot for the rebuild of a fetch. One that requests wait for does not
// queue behind others.
func (b *rebuilds) acquireSlot(ctx context.Context, f *fetch) (release func(), err error) {
	return acquireSlot(ctx, f, b.background, b.requested)
}

// openStoredIndex opens the file with the index of this program that another node has stored,
// unless Dir has a file of the version or the published one has that index: the published one need
// not be fetched then. It returns nil if there is no such file, and segment.ErrIndex if it is known
// that the published one has another index.
func (l *Library) openStoredIndex(ctx context.Context, d herb.Dataset) (*openVersion, error) {
	if !l.shared() || d.File == nil || d.File.Index == segment.CurrentIndex() {
		return nil, nil
	}
	l.mu.RLock()
	cached := l.isCached(d.Version)
	l.mu.RUnlock()
	if cached {
		return nil, nil
	}
	v := l.openStored(ctx, d)
	if v == nil && d.File.Index != "" {
		return nil, segment.ErrIndex
	}
	return v, nil
}

// openStored fetches and opens the file that another node has rebuilt for this release. It returns
// nil if there is none.
func (l *Library) openStored(ctx context.Context, d herb.Dataset) *openVersion {
	if !l.shared() || l.fetchRebuilt(ctx, d) != nil {
		return nil
	}
	r, err := l.openFile(l.rebuiltFile(d.Version))
	if err != nil {
		return nil
	}
	l.rebuilds.setOutdated(d.Version, false)
	l.counters.fetched.Add(1)
	return newOpenVersion(r, d)
}

// openRebuilt opens the file with the index of this program for a version whose published file has
// another index. If there is none, it builds the file, or waits for the node that builds it and
// fetches it.
func (l *Library) openRebuilt(ctx context.Context, f *fetch, d herb.Dataset) (*openVersion, error) {
	if v := l.openStored(ctx, d); v != nil {
		return v, nil
	}
	l.rebuilds.setOutdated(d.Version, true)
	what := fmt.Sprintf("rebuilding the index of dataset %s after an upgrade", d.Ref)
	f.Begin(what, 0)
	close(f.rebuilding)
	release, err := l.claimRebuild(ctx, f)
	if err != nil {
		return nil, err
	}
	defer release()
	if v := l.openStored(ctx, d); v != nil {
		return v, nil
	}
	info, err := l.statPublished(ctx, f, d)
	if err != nil {
		return nil, err
	}
	started := time.Now()
	f.Begin(what, info.Size())
	log := l.opts.Log.With("dataset", d.Ref.String(), "version", d.Version, "index", segment.CurrentIndex())
	log.Info("rebuilding index of another release", "bytes", info.Size())
	if err := l.rebuild(ctx, d, f.Task, info.Size()); err != nil {
		return nil, fmt.Errorf("rebuilding the index: %w", err)
	}
	l.rebuilds.rebuilt.Add(1)
	log.Info("rebuilt index", "records", d.Records, "duration", time.Since(started))
	l.storeRebuilt(ctx, d)
	r, err := l.openFile(l.rebuiltFile(d.Version))
	if err != nil {
		return nil, err
	}
	l.rebuilds.setOutdated(d.Version, false)
	return newOpenVersion(r, d), nil
}

// statPublished returns the size of the published file of a version, which it fetches unless it is
// in Dir.
func (l *Library) statPublished(ctx context.Context, f *fetch, d herb.Dataset) (fs.FileInfo, error) {
	info, err := os.Stat(l.file(d.Version))
	if !errors.Is(err, fs.ErrNotExist) || !l.shared() || d.File == nil {
		return info, err
	}
	release, err := acquireSlot(ctx, f, l.cache.prefetchSlots, l.cache.requestSlots)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := l.download(ctx, f, d); err != nil {
		return nil, err
	}
	return os.Stat(l.file(d.Version))
}

// setOutdated records whether a version lacks an index of this program.
func (b *rebuilds) setOutdated(version string, outdated bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if outdated {
		b.outdated[version] = true
	} else {
		delete(b.outdated, version)
	}
}

// rebuild builds the file with the index of this program from the published file of a version. It
// gets its name only once it was read back and has the content hash of the published records.
func (l *Library) rebuild(ctx context.Context, d herb.Dataset, task *background.Task, size int64) (err error) {
	defer herb.Recover(&err)
	lock, err := store.LockVersions(l.opts.Dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	core, err := segment.OpenCore(l.file(d.Version))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, core.Close()) }()
	if err := core.Verify(); err != nil {
		return err
	}
	cells := contenthash.New(core.Fields())
	path := l.rebuiltFile(d.Version) + "." + rand.Text() + store.CopySuffix // another process may build the same file
	_, err = segment.Create(ctx, path, core.Fields(), cells.Of(core.Records(ctx)), segment.Options{
		Memory: l.opts.Memory, FS: l.opts.FS, Program: l.opts.Program,
		Declared: geo.Declared(d.Descriptor, core.Fields()), Coordinates: publishedCoordinates(core),
		Progress: func(p segment.Progress) {
			half, total := size/2, max(p.Total, 1) // reading takes about as long as sorting
			if p.Phase == segment.PhaseReading {
				total = max(core.Len(), 1)
				task.SetDone(half * int64(p.Done) / int64(total))
			} else {
				task.SetDone(half + half*int64(p.Done)/int64(total))
			}
		},
	})
	if err != nil {
		return err
	}
	if err := verifyRebuilt(ctx, path, d, cells); err != nil {
		return errors.Join(err, l.opts.FS.RemoveAll(path))
	}
	return errors.Join(l.opts.FS.Rename(path, l.rebuiltFile(d.Version)), filesystem.SyncDir(l.opts.FS, l.opts.Dir))
}

// publishedCoordinates returns the coordinates that were recognized when a version was published;
// nil if the release that published it did not recognize any.
func publishedCoordinates(core *segment.Core) *[]herb.Coordinates {
	if all := core.Coordinates(); all != nil {
		return &all
	}
	return nil
}

// verifyRebuilt reads a rebuilt file back and fails unless its cells are those that were published.
func verifyRebuilt(ctx context.Context, path string, d herb.Dataset, cells *contenthash.Hash) (err error) {
	r, err := segment.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Release()) }()
	if err := r.Verify(); err != nil {
		return err
	}
	published := cells.String()
	if d.Report != nil {
		published = cmp.Or(d.Report.Cells, published)
	}
	listed, err := contenthash.OfListing(ctx, r, r.Fields(), func(int) {})
	if err == nil && (listed != published || cells.String() != published) {
		err = fmt.Errorf("content hash mismatch: published %s, read %s, rebuilt %s", published, cells, listed)
	}
	return err
}

// fetchRebuilt fetches the file that another node has built for this release.
func (l *Library) fetchRebuilt(ctx context.Context, d herb.Dataset) error {
	path, size := l.rebuiltFile(d.Version), int64(0)
	if err := l.saveFile(path, func(file io.Writer) error {
		return l.opts.Blobs.Get(ctx, RebuiltName(d.Version), writerFunc(func(p []byte) (int, error) {
			n, err := file.Write(p)
			size += int64(n)
			return n, err
		}))
	}); err != nil {
		return err
	}
	core, err := segment.OpenCore(path)
	if err == nil {
		err = errors.Join(core.Verify(), core.Close())
	}
	if err != nil {
		l.opts.Log.Error("stored index is damaged; rebuilding it", "object", RebuiltName(d.Version), "err", err)
		return errors.Join(err, l.opts.FS.RemoveAll(path))
	}
	l.replaceCached(d.Version, size, true)
	return nil
}

// storeRebuilt stores a rebuilt file for the other nodes of this release. If that fails, they build
// it themselves.
func (l *Library) storeRebuilt(ctx context.Context, d herb.Dataset) {
	if !l.shared() {
		return
	}
	info, err := os.Stat(l.rebuiltFile(d.Version))
	if err == nil {
		err = l.opts.Blobs.Put(ctx, RebuiltName(d.Version), l.rebuiltFile(d.Version), nil)
	}
	if err != nil {
		l.opts.Log.Warn("cannot store rebuilt index; other nodes rebuild it, too", "object", RebuiltName(d.Version), "err", err)
	}
	if info != nil {
		l.replaceCached(d.Version, info.Size(), err == nil)
	}
}

// replaceCached records a rebuilt file in the cache, and removes the published file from it: the
// object store has that file. The fetch that calls it keeps both from being evicted.
func (l *Library) replaceCached(version string, size int64, stored bool) {
	err := l.opts.FS.RemoveAll(l.file(version))
	if err != nil {
		l.opts.Log.Warn("cannot evict file from cache; will retry", "file", store.SegmentFile(version), "err", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cache.add(RebuiltName(version), size, stored)
	if err == nil {
		l.cache.remove(store.SegmentFile(version))
	}
}
