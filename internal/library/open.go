package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// errDamaged reports that a file differs from what was published.
var errDamaged = errors.New("file differs from what was published")

// openOrFetch opens the version of a fetch: the local file if it is intact, else the stored one.
func (l *fetcher) openOrFetch(ctx context.Context, f *fetch) (_ *openVersion, err error) {
	defer herb.Recover(&err)
	d, err := l.describe(ctx, f.version)
	if err != nil {
		return nil, err
	}
	v, err := l.openPublished(ctx, f, d)
	if errors.Is(err, segment.ErrIndex) { // a rebuild has slots of its own, because it takes longer
		return l.rebuilder.openRebuilt(ctx, f, d, func() error { return l.downloadInSlot(ctx, f, d) })
	}
	return v, err
}

// openPublished opens a version from the local file if it is intact, else from the stored one. The
// error is segment.ErrIndex if the local file is intact and this program does not read its index.
func (l *fetcher) openPublished(ctx context.Context, f *fetch, d herb.Dataset) (*openVersion, error) {
	release, err := acquireSlot(ctx, f, l.prefetchSlots, l.requestSlots)
	if err != nil {
		return nil, err
	}
	defer release()
	if v, err := l.rebuilder.openStoredIndex(ctx, d); v != nil || err != nil {
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
		l.log.Error("local file is damaged; fetching it again", "file", store.SegmentFile(d.Version), "err", err)
		if err := l.fs.RemoveAll(l.publishedFile(d.Version)); err != nil {
			return nil, err
		}
	}
	if failed := l.download(ctx, f, d); failed != nil {
		if errors.Is(err, fs.ErrNotExist) { // which is usual
			return nil, failed
		}
		return nil, errors.Join(failed, err)
	}
	r, err = l.openFile(l.publishedFile(d.Version))
	if err != nil {
		return nil, err
	}
	l.counters.fetched.Add(1)
	return newOpenVersion(r, d), nil
}

// openBuilt opens the local file with the index of this program: the published one, or one that was
// rebuilt.
func (l *fetcher) openBuilt(d herb.Dataset) (*segment.Reader, error) {
	if _, err := os.Stat(l.rebuiltFile(d.Version)); err == nil {
		r, err := l.openFile(l.rebuiltFile(d.Version))
		if err == nil || herb.CodeOf(err) == herb.CodeUnavailable {
			return r, err
		}
		l.log.Error("cannot open rebuilt file; rebuilding it again", "file", RebuiltName(d.Version), "err", err)
		if err := l.fs.RemoveAll(l.rebuiltFile(d.Version)); err != nil {
			return nil, err
		}
	}
	r, err := l.openFile(l.publishedFile(d.Version))
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
		err = r.Verify()
		if err != nil {
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
		err = c.Verify()
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, err
}

// intact reports whether a file that failed to open is identical to what was published.
func (l *fetcher) intact(ctx context.Context, d herb.Dataset) bool {
	file, err := l.HashFile(ctx, d.Version)
	return err == nil && file.HasContentOf(*d.File)
}

// downloadInSlot is download in a slot of its own.
func (l *fetcher) downloadInSlot(ctx context.Context, f *fetch, d herb.Dataset) error {
	release, err := acquireSlot(ctx, f, l.prefetchSlots, l.requestSlots)
	if err != nil {
		return err
	}
	defer release()
	return l.download(ctx, f, d)
}

// download fetches the file of a version. The file gets its name only once it is complete and
// verified.
func (l *fetcher) download(ctx context.Context, f *fetch, d herb.Dataset) error {
	received := int64(0)
	f.Begin("downloading dataset "+d.Ref.String(), d.File.Size)
	if err := l.save(store.SegmentFile(d.Version), func(file io.Writer) error {
		sum := herb.NewFileHash()
		both := io.MultiWriter(file, sum)
		if err := l.blobs.Get(ctx, store.SegmentFile(d.Version), writerFunc(func(p []byte) (int, error) {
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
			return fmt.Errorf("%w: it has %d bytes with SHA-256 %s; want %d bytes with %s", errDamaged, got.Size,
				got.SHA256, d.File.Size, d.File.SHA256)
		}
		return nil
	}); err != nil {
		return err
	}
	l.cache.add(store.SegmentFile(d.Version), received, true)
	return nil
}
