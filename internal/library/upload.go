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

// retireAt returns the time at which versions that leave the catalogue now are retired. Without Blobs, retirements are not
// recorded.
func (l *Library) retireAt() time.Time {
	if l.shared() {
		return l.opts.Now()
	}
	return time.Time{}
}

// finishPublish adds the file of a version that went live to the cache and collects garbage.
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
		l.opts.Log.Warn("garbage collection failed; will retry", "err", err)
	}
}
