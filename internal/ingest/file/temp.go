package file

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"herbarium/internal/filesystem"
	"herbarium/internal/ingest/rows"
)

// TempCopy copies the output of a reader to a temporary file without a name.
func TempCopy(ctx context.Context, dir string, r io.Reader) (*os.File, error) {
	f, err := rows.TempFile(dir)
	if err != nil {
		return nil, err
	}
	if _, err := copyContext(ctx, f, r); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// copyContext copies until the context ends.
func copyContext(ctx context.Context, to io.Writer, from io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{to}, &contextReader{ctx, from}, make([]byte, bufferBytes))
}

// contextReader reads until its context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (c *contextReader) Read(p []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// copyDir is a temporary folder with a copy of a database, for a library that opens files by name. It is locked while it
// is in use, so that the leftovers of killed processes are recognized and removed.
type copyDir struct {
	dir  string
	lock *os.File
}

const (
	copyPrefix = "herbarium-copy-"
	// minLeftover is the age from which an unlocked folder is a leftover; it was locked soon after its creation.
	minLeftover = time.Minute
)

func newCopyDir(parent string) (*copyDir, error) {
	parent = cmp.Or(parent, os.TempDir())
	removeLeftovers(parent)
	dir, err := os.MkdirTemp(parent, copyPrefix+"*")
	if err != nil {
		return nil, err
	}
	lock, err := os.Open(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	_ = filesystem.TryLock(lock) // without locks, leftovers are not removed
	return &copyDir{dir, lock}, nil
}

// removeLeftovers removes the copies of killed processes as far as possible.
func removeLeftovers(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, copyPrefix+"*"))
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < minLeftover {
			continue
		}
		if lock, err := os.Open(dir); err == nil {
			if filesystem.TryLock(lock) == nil {
				_ = os.RemoveAll(dir) // another attempt follows with the next copy
			}
			lock.Close()
		}
	}
}

// path returns the path of the copy, or of one of its companions.
func (c *copyDir) path(suffix string) string { return filepath.Join(c.dir, "copy.db"+suffix) }

// add writes a file to the folder.
func (c *copyDir) add(ctx context.Context, suffix string, content io.Reader) error {
	out, err := os.OpenFile(c.path(suffix), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = copyContext(ctx, out, content)
	return errors.Join(err, out.Close())
}

// Close deletes the folder.
func (c *copyDir) Close() error {
	return errors.Join(c.lock.Close(), os.RemoveAll(c.dir)) // Windows removes no open folders
}
