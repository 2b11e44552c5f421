package library

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// stallTimeout cancels a download that receives no byte for so long.
const stallTimeout = 30 * time.Second

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
	d := f.dataset
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
	if failed := l.download(ctx, f); failed != nil {
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

// openFetched opens a file that was just fetched and verifies all of it, whatever its size.
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
func (l *Library) download(ctx context.Context, f *fetch) (err error) {
	d := f.dataset
	stem := d.Version + "." + strings.ToLower(rand.Text())
	lock, err := l.lock(stem)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	part := filepath.Join(l.opts.Dir, stem+segment.PartSuffix)
	file, err := l.opts.FS.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	named := false
	defer func() {
		if !named {
			err = errors.Join(err, l.opts.FS.RemoveAll(part))
		}
	}()
	size, err := l.receive(ctx, f, file)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.opts.FS.Rename(part, l.file(d.Version)); err != nil {
		return err
	}
	named = true
	l.cache.files[d.Version], l.cache.stored[d.Version] = size, true
	return nil
}

// receive writes the stored file of a version to file and verifies it.
func (l *Library) receive(ctx context.Context, f *fetch, file filesystem.File) (int64, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(stallTimeout, func() {
		cancel(herb.Errorf(herb.CodeUnavailable, "no data received for %s", stallTimeout))
	})
	defer silence.Stop()
	w := &receiver{file: file, sum: sha256.New(), received: &f.received, limit: -1, stallTimer: silence}
	if f.dataset.File != nil {
		w.limit = f.dataset.File.Size
	}
	f.received.Store(0)
	err := l.opts.Blobs.Get(ctx, objectName(f.dataset.Version), w)
	size := f.received.Load()
	switch {
	case w.err != nil: // Blobs may not return the error of the writer
		return 0, w.err
	case err != nil && ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case err != nil:
		return 0, err
	}
	if err := checkSize(f.dataset, size); err != nil {
		return 0, err
	}
	if sum := hex.EncodeToString(w.sum.Sum(nil)); f.dataset.File != nil && sum != f.dataset.File.SHA256 {
		return 0, fmt.Errorf("%w: SHA-256 is %s; want %s", errDamaged, sum, f.dataset.File.SHA256)
	}
	return size, file.Sync()
}

// receiver writes a file, hashes it and rejects more bytes than expected.
type receiver struct {
	file       io.Writer
	sum        hash.Hash
	received   *atomic.Int64
	limit      int64 // negative: no limit
	stallTimer *time.Timer
	err        error
}

// Write implements io.Writer.
func (w *receiver) Write(p []byte) (n int, err error) {
	w.stallTimer.Reset(stallTimeout)
	if w.limit >= 0 && w.received.Load()+int64(len(p)) > w.limit {
		w.err = fmt.Errorf("%w: more than %d bytes", errDamaged, w.limit)
		return 0, w.err
	}
	n, err = w.file.Write(p)
	w.sum.Write(p[:n])
	w.received.Add(int64(n))
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	w.err = err
	return n, err
}
