package library

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// objectName returns the name of a version's file in Blobs.
func objectName(version string) string { return version + fileSuffix }

// cleanupTimeout limits the time a publish spends on garbage collection. Others do the rest later.
const cleanupTimeout = 30 * time.Second

// upload stores the file of a version for all nodes and returns its size and hash.
func (l *Library) upload(ctx context.Context, d herb.Dataset, progress func(segment.Progress)) (*herb.File, error) {
	report := func(int64, int64) {}
	if progress != nil {
		report = func(done, total int64) {
			progress(segment.Progress{Phase: PhaseUploading, Done: int(done), Total: int(total)})
		}
	}
	file, err := l.hashFile(ctx, d.Version)
	if err != nil {
		return nil, fmt.Errorf("hashing the segment file: %w", err)
	}
	report(0, file.Size)
	if err := l.opts.Blobs.Put(ctx, objectName(d.Version), l.file(d.Version), report); err != nil {
		l.deleteUpload(ctx, d) // the object may exist despite the error
		return nil, fmt.Errorf("uploading the segment file: %w", err)
	}
	return file, nil
}

// hashFile returns the size and hash of a version's file.
func (l *Library) hashFile(ctx context.Context, version string) (file *herb.File, err error) {
	f, err := l.opts.FS.OpenFile(l.file(version), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	n, err := io.Copy(h, contextReader{ctx, f})
	return &herb.File{Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}

// contextReader is a reader that fails when its context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}

// deleteUpload deletes the object of a version that will not enter the catalogue. If that fails, Collect does it later.
func (l *Library) deleteUpload(ctx context.Context, d herb.Dataset) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if err := l.opts.Blobs.Delete(limited, objectName(d.Version)); err != nil {
		l.opts.Log.Warn("orphaned upload left for garbage collection", "object", objectName(d.Version), "err", err)
	}
}

// errDamaged reports that a file differs from what was published.
var errDamaged = errors.New("file differs from what was published")

// isDamaged reports whether an error means that a file differs from what was published.
func isDamaged(err error) bool {
	return errors.Is(err, errDamaged) || errors.Is(err, segment.ErrCorrupt) || errors.Is(err, segment.ErrTruncated)
}

// failureKind classifies an error, because messages of the same failure may differ in detail.
func failureKind(err error) string {
	if isDamaged(err) {
		return "damaged"
	}
	return string(herb.CodeOf(errors.Unwrap(err)))
}

// openOrFetch opens the version of a fetch: the local file if it is intact, else the stored one.
func (l *Library) openOrFetch(ctx context.Context, f *fetch) (_ *openVersion, err error) {
	defer herb.Recover(&err)
	release, err := l.cache.acquireSlot(ctx, f)
	if err != nil {
		return nil, err
	}
	defer release()
	d, err := l.describeVersion(ctx, f.version)
	if err != nil {
		return nil, err
	}
	if d.File != nil {
		f.size.Store(d.File.Size)
	}
	r, err := l.openLocal(d)
	switch {
	case err == nil:
		return &openVersion{Reader: r, dataset: publicDescription(d)}, nil
	case !l.shared():
		return nil, err
	case errors.Is(err, fs.ErrNotExist):
	case l.intact(ctx, d, err):
		return nil, err // fetching again would not help, for example if only a newer program can read it
	case d.File != nil:
		l.opts.Log.Error("local file is damaged; fetching it again", "file", objectName(d.Version), "err", err)
		if err := l.removeFile(d.Version); err != nil {
			return nil, err
		}
	}
	if failed := l.download(ctx, f, d); failed != nil {
		return nil, errors.Join(failed, err)
	}
	if r, err = l.openFetched(d); err != nil {
		return nil, err
	}
	return &openVersion{Reader: r, dataset: publicDescription(d)}, nil
}

// openLocal opens a local file. A file gets its name only after it was verified, so this checks its size, its frame and,
// unless it is large, its checksums.
func (l *Library) openLocal(d herb.Dataset) (*segment.Reader, error) {
	r, err := l.openFile(l.file(d.Version))
	if err != nil {
		return nil, err
	}
	if err := checkSize(d, int64(r.Size())); err != nil {
		return nil, errors.Join(err, r.Release())
	}
	return r, nil
}

// openFetched opens a file that was just fetched and verifies all of it, regardless of its size.
func (l *Library) openFetched(d herb.Dataset) (*segment.Reader, error) {
	r, err := segment.Open(l.file(d.Version))
	if err == nil {
		if err = r.Verify(); err == nil {
			return r, nil
		}
		err = errors.Join(err, r.Release())
	}
	if isDamaged(err) {
		err = errors.Join(err, l.removeFile(d.Version))
	}
	return nil, err
}

// intact reports whether a file that failed to open is nevertheless what was published.
func (l *Library) intact(ctx context.Context, d herb.Dataset, failed error) bool {
	if d.File == nil {
		return !isDamaged(failed)
	}
	file, err := l.hashFile(ctx, d.Version)
	return err == nil && *file == *d.File
}

// checkSize compares a size with that of the version's file, if known.
func checkSize(d herb.Dataset, size int64) error {
	if d.File == nil || size == d.File.Size {
		return nil
	}
	return fmt.Errorf("%w: size is %d bytes; want %d", errDamaged, size, d.File.Size)
}

// download fetches the file of a version. The file gets its name only once it is complete and verified.
func (l *Library) download(ctx context.Context, f *fetch, d herb.Dataset) error {
	if err := l.saveFile(l.file(d.Version), func(file io.Writer) error { return l.receive(ctx, f, d, file) }); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cache.files[d.Version], l.cache.stored[d.Version] = f.received.Load(), true
	return nil
}

// receive writes the stored file of a version to a writer and verifies it.
func (l *Library) receive(ctx context.Context, f *fetch, d herb.Dataset, to io.Writer) error {
	w := &receiver{to: to, sum: sha256.New(), received: &f.received, want: d.File}
	f.received.Store(0)
	if err := l.opts.Blobs.Get(ctx, objectName(d.Version), w); err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	if err := checkSize(d, f.received.Load()); err != nil {
		return err
	}
	if sum := hex.EncodeToString(w.sum.Sum(nil)); w.want != nil && sum != w.want.SHA256 {
		return fmt.Errorf("%w: SHA-256 is %s; want %s", errDamaged, sum, w.want.SHA256)
	}
	return nil
}

// receiver writes a file, hashes it and rejects more bytes than expected.
type receiver struct {
	to       io.Writer
	sum      hash.Hash
	received *atomic.Int64
	want     *herb.File // nil: unknown
}

// Write implements io.Writer.
func (w *receiver) Write(p []byte) (n int, err error) {
	if w.want != nil && w.received.Load()+int64(len(p)) > w.want.Size {
		return 0, fmt.Errorf("%w: more than %d bytes", errDamaged, w.want.Size)
	}
	n, err = w.to.Write(p)
	w.sum.Write(p[:n])
	w.received.Add(int64(n))
	return n, err
}
