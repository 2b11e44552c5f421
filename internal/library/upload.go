package library

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// objectName is what the file of a version is called among Blobs.
func objectName(version string) string { return version + fileSuffix }

// tidying is how long a publish may take to remove what is not needed any more. Others do it later.
const cleanupTimeout = 30 * time.Second

// upload stores the file of a version for all nodes and returns how they know it.
func (l *Library) upload(ctx context.Context, d herb.Dataset, progress func(segment.Progress)) (*herb.File, error) {
	told := func(int64, int64) {}
	if progress != nil {
		told = func(done, total int64) {
			progress(segment.Progress{Phase: PhaseUploading, Done: int(done), Total: int(total)})
		}
	}
	file, err := l.hashFile(ctx, d.Version)
	if err != nil {
		return nil, fmt.Errorf("reading the file of a version: %w", err)
	}
	told(0, file.Size)
	if err := l.opts.Blobs.Put(ctx, objectName(d.Version), l.file(d.Version), told); err != nil {
		l.deleteUpload(ctx, d) // it may be there all the same
		return nil, fmt.Errorf("storing the file of a version for all nodes: %w", err)
	}
	return file, nil
}

// sum reads the file of a version through.
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

// reader is a reader that fails when a context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read is io.Reader.
func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}

// withdraw removes what was uploaded of a version that is not in the catalogue and will not be. Where that fails, Collect
// does it later.
func (l *Library) deleteUpload(ctx context.Context, d herb.Dataset) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if err := l.opts.Blobs.Delete(limited, objectName(d.Version)); err != nil {
		l.opts.Log.Warn("what was uploaded in vain is removed later", "object", objectName(d.Version), "err", err)
	}
}

// decide makes sure whether a version is in the catalogue that has failed to add it. To ask is not enough: what was asked
// for may still be under way. So the version is retired, which waits for that or forestalls it.
func (l *Library) resolveUncertainAdd(ctx context.Context, d herb.Dataset, failed error) error {
	retired, err := l.catalogue.RetireVersion(context.WithoutCancel(ctx), d.Version, l.opts.Now())
	switch {
	case err != nil:
		return errors.Join(failed, err, errUncertain)
	case !retired:
		l.opts.Log.Warn("the catalogue reports an error but has the version", "dataset", d.Ref.String(), "version", d.Version, "err", failed)
		return nil
	default:
		return failed
	}
}

// retireAt is when versions that leave the catalogue now are retired. Without Blobs nobody needs to know.
func (l *Library) retireAt() time.Time {
	if l.opts.Blobs == nil {
		return time.Time{}
	}
	return l.opts.Now()
}

// settle is what follows when a version is live: its file becomes part of the cache, and what it made superfluous is
// removed.
func (l *Library) finishPublish(ctx context.Context, d herb.Dataset) {
	l.mu.Lock()
	l.cache.files[d.Version], l.cache.stored[d.Version] = d.File.Size, true
	recently := l.opts.Now().Sub(l.cache.lastCollected) < time.Minute
	l.mu.Unlock()
	if recently {
		return
	}
	limited, cancel := context.WithTimeout(ctx, cleanupTimeout)
	defer cancel()
	if err := l.Collect(limited); err != nil {
		l.opts.Log.Warn("objects that nobody needs are removed later", "err", err)
	}
}
