package library

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

func (l *Library) file(version string) string {
	return filepath.Join(l.opts.Dir, store.SegmentFile(version))
}

// errDamaged reports that a file differs from what was published.
var errDamaged = errors.New("file differs from what was published")

// openOrFetch opens the version of a fetch: the local file if it is intact, else the stored one.
func (l *Library) openOrFetch(ctx context.Context, f *fetch) (_ *openVersion, err error) {
	defer herb.Recover(&err)
	d, err := l.describeVersion(ctx, f.version)
	if err != nil {
		return nil, err
	}
	v, err := l.openPublished(ctx, f, d)
	if errors.Is(err, segment.ErrIndex) { // a rebuild has slots of its own, because it takes longer
		return l.openRebuilt(ctx, f, d)
	}
	return v, err
}

// openPublished opens a version from the local file if it is intact, else from the stored one. The
// error is segment.ErrIndex if the local file is intact and this program does not read its index.
func (l *Library) openPublished(ctx context.Context, f *fetch, d herb.Dataset) (*openVersion, error) {
	release, err := acquireSlot(ctx, f, l.cache.prefetchSlots, l.cache.requestSlots)
	if err != nil {
		return nil, err
	}
	defer release()
	if v, err := l.openStoredIndex(ctx, d); v != nil || err != nil {
		return v, err
	}
	r, err := l.openBuilt(d)
	switch {
	case err == nil:
		l.counters.opened.Add(1)
		return newOpenVersion(r, d), nil
	case errors.Is(err, segment.ErrIndex) && (d.File == nil || l.intact(ctx, d)):
		return nil, err
	case !l.shared() || d.File == nil: // it was never uploaded
		return nil, err
	case errors.Is(err, fs.ErrNotExist):
	case l.intact(ctx, d):
		return nil, err // fetching again would not help
	default:
		l.opts.Log.Error("local file is damaged; fetching it again", "file", store.SegmentFile(d.Version), "err", err)
		if err := l.opts.FS.RemoveAll(l.file(d.Version)); err != nil {
			return nil, err
		}
	}
	if failed := l.download(ctx, f, d); failed != nil {
		if errors.Is(err, fs.ErrNotExist) { // which is usual
			return nil, failed
		}
		return nil, errors.Join(failed, err)
	}
	if r, err = l.openFile(l.file(d.Version)); err != nil {
		return nil, err
	}
	l.counters.fetched.Add(1)
	return newOpenVersion(r, d), nil
}

// openBuilt opens the local file with the index of this program: the published one, or one that was
// rebuilt.
func (l *Library) openBuilt(d herb.Dataset) (*segment.Reader, error) {
	if _, err := os.Stat(l.rebuiltFile(d.Version)); err == nil {
		r, err := l.openFile(l.rebuiltFile(d.Version))
		if err == nil || herb.CodeOf(err) == herb.CodeUnavailable {
			return r, err
		}
		l.opts.Log.Error("cannot open rebuilt file; rebuilding it again", "file", RebuiltName(d.Version), "err", err)
		if err := l.opts.FS.RemoveAll(l.rebuiltFile(d.Version)); err != nil {
			return nil, err
		}
	}
	r, err := l.openFile(l.file(d.Version))
	if err == nil && d.File != nil && int64(r.Size()) != d.File.Size {
		err = errors.Join(fmt.Errorf("%w: size is %d bytes; want %d", errDamaged, r.Size(), d.File.Size), r.Release())
	}
	return r, err
}

// smallSegment is the size up to which a local segment is verified when it is opened. Verifying
// larger ones would delay the start; a file gets its name only after it was verified.
const smallSegment = 64 << 20

// openLocal opens a segment file, and verifies its checksums if it is small.
func openLocal(path string) (*segment.Reader, error) {
	r, err := segment.Open(path)
	if err == nil && r.Size() <= smallSegment {
		if err = r.Verify(); err != nil {
			return nil, errors.Join(err, r.Release())
		}
	}
	return r, err
}

// OpenCore opens a segment file with the index of any release, and verifies its checksums if it is
// small, as a server does. The caller must close it.
func OpenCore(path string) (*segment.Core, error) {
	c, err := segment.OpenCore(path)
	if err == nil && c.Size() <= smallSegment {
		if err = c.Verify(); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, err
}

// CheckFile opens the published file of a version with OpenCore and closes it.
func (l *Library) CheckFile(version string) error {
	c, err := OpenCore(l.file(version))
	if err != nil {
		return err
	}
	return c.Close()
}

// HashFile returns the size and hash of a version's file.
func (l *Library) HashFile(ctx context.Context, version string) (file *herb.File, err error) {
	f, err := l.opts.FS.OpenFile(l.file(version), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sum := herb.NewFileHash()
	_, err = io.Copy(writerFunc(func(p []byte) (int, error) {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return sum.Write(p)
	}), f)
	return new(sum.File()), err
}

// intact reports whether a file that failed to open is identical to what was published.
func (l *Library) intact(ctx context.Context, d herb.Dataset) bool {
	file, err := l.HashFile(ctx, d.Version)
	return err == nil && file.HasContentOf(*d.File)
}

// download fetches the file of a version. The file gets its name only once it is complete and
// verified.
func (l *Library) download(ctx context.Context, f *fetch, d herb.Dataset) error {
	received := int64(0)
	f.Begin("downloading dataset "+d.Ref.String(), d.File.Size)
	if err := l.saveFile(l.file(d.Version), func(file io.Writer) error {
		sum := herb.NewFileHash()
		both := io.MultiWriter(file, sum)
		if err := l.opts.Blobs.Get(ctx, store.SegmentFile(d.Version), writerFunc(func(p []byte) (int, error) {
			if received+int64(len(p)) > d.File.Size {
				return 0, fmt.Errorf("%w: more than %d bytes", errDamaged, d.File.Size)
			}
			n, err := both.Write(p)
			received += int64(n)
			f.SetDone(received)
			l.counters.fetchedBytes.Add(int64(n))
			return n, err
		})); err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
		if got := sum.File(); !got.HasContentOf(*d.File) {
			return fmt.Errorf("%w: it has %d bytes with SHA-256 %s; want %d bytes with %s", errDamaged, got.Size, got.SHA256, d.File.Size, d.File.SHA256)
		}
		return nil
	}); err != nil {
		return err
	}
	l.AddFile(store.SegmentFile(d.Version), received)
	return nil
}

// writerFunc is a function as an io.Writer.
type writerFunc func(p []byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }

// catalogueFile is a node's copy of the catalogue, which it lists if it starts while the catalogue
// is down. The descriptions are in files of their own, one per version.
const catalogueFile = "catalogue.json"

// catalogueCopy is the content of catalogueFile.
type catalogueCopy struct {
	Generation int64              `json:"generation"`
	Datasets   []herb.LiveVersion `json:"datasets"`
	Plants     *herb.Dataset      `json:"plants,omitempty"` // last known description of the mutable dataset
}

// loadCatalogueCopy restores the entries from the copy that an earlier run saved, until the
// catalogue is read.
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
	for _, v := range copied.Datasets {
		l.setEntry(v)
	}
	l.status.Store(&catalogueStatus{generation: max(copied.Generation, 0), restored: true})
	if copied.Plants != nil {
		l.plants.dataset = *copied.Plants
	}
	l.opts.Log.Info("serving versions of the catalogue copy until the catalogue is read", "datasets", len(copied.Datasets))
}

// saveCatalogueCopy saves the entries for loadCatalogueCopy. l.refresh is held.
func (l *Library) saveCatalogueCopy() {
	s := l.status.Load()
	if s.restored || s.generation < 0 {
		return
	}
	copied := catalogueCopy{Generation: s.generation, Datasets: l.liveVersions()}
	l.plants.mu.Lock()
	if l.plants.dataset.Version != "" {
		copied.Plants = new(l.plants.dataset)
	}
	l.plants.mu.Unlock()
	if err := l.saveJSON(catalogueFile, copied); err != nil {
		l.opts.Log.Warn("cannot save catalogue copy", "err", err)
	}
}

// saveJSON writes a small file in Dir.
func (l *Library) saveJSON(name string, content any) error {
	return l.saveFile(filepath.Join(l.opts.Dir, name), func(w io.Writer) error { return json.NewEncoder(w).Encode(content) })
}

// saveFile writes a file in Dir atomically. Other processes may write it concurrently.
func (l *Library) saveFile(path string, write func(io.Writer) error) error {
	lock, err := store.LockVersions(l.opts.Dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	return filesystem.WriteFile(l.opts.FS, path+"."+rand.Text()+segment.PartSuffix, path, 0o600, write)
}

// loadDescription returns the copy of a description, which never changes.
func (l *Library) loadDescription(v herb.LiveVersion) (d herb.Dataset, err error) {
	content, err := os.ReadFile(filepath.Join(l.opts.Dir, store.DescriptionFile(v.Version)))
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(content, &d); err != nil {
		return d, err
	}
	if d.Ref != v.Ref || d.Version != v.Version {
		return d, errors.New("the description is that of another version")
	}
	return d, nil
}

// saveDescription saves a copy of a description. If that fails, the node needs the catalogue to
// open the version again.
func (l *Library) saveDescription(d herb.Dataset) {
	if err := l.saveJSON(store.DescriptionFile(d.Version), d); err != nil {
		l.opts.Log.Warn("cannot save description", "dataset", d.Ref.String(), "version", d.Version, "err", err)
	}
}
