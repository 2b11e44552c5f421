package file

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"herbarium/internal/filesystem"
	"herbarium/internal/ingest/rows"
)

// TempCopy copies the output of a reader to a temporary file without a name.
func TempCopy(dir string, r io.Reader) (*os.File, error) {
	f, err := rows.TempFile(dir)
	if err != nil {
		return nil, err
	}
	if err := copyAll(f, r); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// createCopy copies the output of a reader to a new file.
func createCopy(path string, r io.Reader) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(copyAll(out, r), out.Close())
}

// copyAll copies in large pieces, which methods of the reader or writer for copying would not do.
func copyAll(to io.Writer, from io.Reader) error {
	_, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, bufferBytes))
	return err
}

const (
	copyPrefix = "herbarium-copy-"
	// minLeftover is the age from which an unlocked folder is a leftover; it was locked soon after its creation.
	minLeftover = time.Minute
)

// tempDir returns a temporary folder for copies of a database, for a library that opens files by name. It is locked until
// the File is closed, so that the leftovers of killed processes are recognized and removed.
func (f *File) tempDir() (string, error) {
	parent := cmp.Or(f.opts.Temp, os.TempDir())
	leftovers, _ := filepath.Glob(filepath.Join(parent, copyPrefix+"*"))
	for _, dir := range leftovers {
		removeLeftover(dir)
	}
	dir, err := os.MkdirTemp(parent, copyPrefix+"*")
	if err != nil {
		return "", err
	}
	remove := func() error { return os.RemoveAll(dir) }
	lock, err := os.Open(dir)
	if err != nil {
		return "", errors.Join(err, remove())
	}
	_ = filesystem.TryLock(lock)                      // without locks, leftovers are not removed
	f.closers = append(f.closers, remove, lock.Close) // Windows removes no open folders
	return dir, nil
}

// removeLeftover removes the copies of a killed process if possible; another attempt follows with the next copy.
func removeLeftover(dir string) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || time.Since(info.ModTime()) < minLeftover {
		return
	}
	if lock, err := os.Open(dir); err == nil {
		if filesystem.TryLock(lock) == nil {
			_ = os.RemoveAll(dir)
		}
		lock.Close()
	}
}
