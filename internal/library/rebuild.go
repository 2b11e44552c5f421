package library

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	return name == RebuiltName(f.Version) || name == ParquetName(f.Version, false) ||
		name == ParquetName(f.Version, true)
}

// rebuilder opens versions that another release has published: with the file that a node of this
// release has stored, or one that it builds, a few at a time and each on one node only.
type rebuilder struct {
	*folder
	cache    *cache
	claims   claims
	counters *counters
	memory   int    // see Options
	program  string // see Options

	background chan struct{} // slot of rebuilds that no request waits for
	requested  chan struct{} // additional slot of rebuilds that requests wait for
	rebuilt    atomic.Int64  // completed rebuilds

	mu       sync.Mutex
	outdated map[string]bool // versions without an index of this program, as far as they are known
}

// acquireSlot waits for a slot for the rebuild of a fetch. One that requests wait for does not
// queue behind others.
func (b *rebuilder) acquireSlot(ctx context.Context, f *fetch) (release func(), err error) {
	return acquireSlot(ctx, f, b.background, b.requested)
}

// claimRebuild waits until this node may rebuild the index of the version of a fetch: it has a
// slot, and no other node of the same release rebuilds the index. The caller calls release at the
// end.
func (b *rebuilder) claimRebuild(ctx context.Context, f *fetch) (release func(), err error) {
	for {
		releaseSlot, err := b.acquireSlot(ctx, f)
		if err != nil || !b.shared() {
			return releaseSlot, err
		}
		endClaim, claimed := b.claims.claim(ctx, RebuiltName(f.version.Version))
		if claimed {
			return func() {
				endClaim()
				releaseSlot()
			}, nil
		}
		releaseSlot()
		select {
		case <-time.After(claimRetry):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// openStoredIndex opens the file with the index of this program that another node has stored,
// unless Dir has a file of the version or the published one has that index: the published one need
// not be fetched then. It returns nil if there is no such file, and segment.ErrIndex if it is known
// that the published one has another index.
func (b *rebuilder) openStoredIndex(ctx context.Context, d herb.Dataset) (*openVersion, error) {
	if !b.shared() || d.File == nil || d.File.Index == segment.CurrentIndex() {
		return nil, nil
	}
	if b.cache.has(d.Version) {
		return nil, nil
	}
	v := b.openStored(ctx, d)
	if v == nil && d.File.Index != "" {
		return nil, segment.ErrIndex
	}
	return v, nil
}

// openStored fetches and opens the file that another node has rebuilt for this release. It returns
// nil if there is none.
func (b *rebuilder) openStored(ctx context.Context, d herb.Dataset) *openVersion {
	if !b.shared() || b.fetchRebuilt(ctx, d) != nil {
		return nil
	}
	r, err := b.openFile(b.rebuiltFile(d.Version))
	if err != nil {
		return nil
	}
	b.setOutdated(d.Version, false)
	b.counters.fetched.Add(1)
	return newOpenVersion(r, d)
}

// openRebuilt opens the file with the index of this program for a version whose published file has
// another index. If there is none, it builds the file, or waits for the node that builds it and
// fetches it. download fetches the published file if it is not in the folder.
func (b *rebuilder) openRebuilt(ctx context.Context, f *fetch, d herb.Dataset,
	download func() error) (*openVersion, error) {
	if v := b.openStored(ctx, d); v != nil {
		return v, nil
	}
	b.setOutdated(d.Version, true)
	what := fmt.Sprintf("rebuilding the index of dataset %s after an upgrade", d.Ref)
	f.Begin(what, 0)
	close(f.rebuilding)
	release, err := b.claimRebuild(ctx, f)
	if err != nil {
		return nil, err
	}
	defer release()
	if v := b.openStored(ctx, d); v != nil {
		return v, nil
	}
	info, err := os.Stat(b.publishedFile(d.Version))
	if errors.Is(err, fs.ErrNotExist) && b.shared() && d.File != nil {
		if err := download(); err != nil {
			return nil, err
		}
		info, err = os.Stat(b.publishedFile(d.Version))
	}
	if err != nil {
		return nil, err
	}
	started := time.Now()
	f.Begin(what, info.Size())
	log := b.log.With("dataset", d.Ref.String(), "version", d.Version, "index", segment.CurrentIndex())
	log.Info("rebuilding index of another release", "bytes", info.Size())
	if err := b.rebuild(ctx, d, f.Task, info.Size()); err != nil {
		return nil, fmt.Errorf("rebuilding the index: %w", err)
	}
	b.rebuilt.Add(1)
	log.Info("rebuilt index", "records", d.Records, "duration", time.Since(started))
	b.storeRebuilt(ctx, d)
	r, err := b.openFile(b.rebuiltFile(d.Version))
	if err != nil {
		return nil, err
	}
	b.setOutdated(d.Version, false)
	return newOpenVersion(r, d), nil
}

// setOutdated records whether a version lacks an index of this program.
func (b *rebuilder) setOutdated(version string, outdated bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if outdated {
		b.outdated[version] = true
	} else {
		delete(b.outdated, version)
	}
}

// isOutdated reports whether a version is known to lack an index of this program.
func (b *rebuilder) isOutdated(version string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.outdated[version]
}

// rebuild builds the file with the index of this program from the published file of a version. It
// gets its name only once it was read back and has the content hash of the published records.
func (b *rebuilder) rebuild(ctx context.Context, d herb.Dataset, task *background.Task, size int64) (err error) {
	defer herb.Recover(&err)
	lock, err := store.LockVersions(b.dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	core, err := segment.OpenCore(b.publishedFile(d.Version))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, core.Close()) }()
	if err := core.Verify(); err != nil {
		return err
	}
	cells := contenthash.New(core.Fields())
	path := b.rebuiltFile(d.Version) + "." + rand.Text() + store.CopySuffix // another process may build the same file
	_, err = segment.Create(ctx, path, core.Fields(), cells.Of(core.Records(ctx)), segment.Options{
		Memory: b.memory, FS: b.fs, Program: b.program,
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
		return errors.Join(err, b.fs.RemoveAll(path))
	}
	return errors.Join(b.fs.Rename(path, b.rebuiltFile(d.Version)), filesystem.SyncDir(b.fs, b.dir))
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
func (b *rebuilder) fetchRebuilt(ctx context.Context, d herb.Dataset) error {
	size, err := b.fetch(ctx, RebuiltName(d.Version))
	if err != nil {
		return err
	}
	path := b.rebuiltFile(d.Version)
	core, err := segment.OpenCore(path)
	if err == nil {
		err = errors.Join(core.Verify(), core.Close())
	}
	if err != nil {
		b.log.Error("stored index is damaged; rebuilding it", "object", RebuiltName(d.Version), "err", err)
		return errors.Join(err, b.fs.RemoveAll(path))
	}
	b.cache.replace(d.Version, size, true)
	return nil
}

// storeRebuilt stores a rebuilt file for the other nodes of this release. If that fails, they build
// it themselves.
func (b *rebuilder) storeRebuilt(ctx context.Context, d herb.Dataset) {
	if !b.shared() {
		return
	}
	info, err := os.Stat(b.rebuiltFile(d.Version))
	if err == nil {
		err = b.blobs.Put(ctx, RebuiltName(d.Version), b.rebuiltFile(d.Version), nil)
	}
	if err != nil {
		b.log.Warn("cannot store rebuilt index; other nodes rebuild it, too", "object",
			RebuiltName(d.Version), "err", err)
	}
	if info != nil {
		b.cache.replace(d.Version, info.Size(), err == nil)
	}
}
