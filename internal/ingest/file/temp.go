package file

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

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

// copyDir returns a temporary folder for copies of a database, for a library that opens files by name. It is removed when the
// library has opened them, so a process leaves one behind only if it is killed before. Such leftovers are removed after a day.
func (f *File) copyDir() (string, error) {
	const prefix, maxAge = "herbarium-copy-", 24 * time.Hour
	parent := cmp.Or(f.opts.Temp, os.TempDir())
	leftovers, _ := filepath.Glob(filepath.Join(parent, prefix+"*"))
	for _, dir := range leftovers {
		if info, err := os.Lstat(dir); err == nil && time.Since(info.ModTime()) > maxAge {
			_ = os.RemoveAll(dir) // another attempt follows with the next copy
		}
	}
	dir, err := os.MkdirTemp(parent, prefix+"*")
	if err == nil {
		f.closers = append(f.closers, func() error { return os.RemoveAll(dir) })
	}
	return dir, err
}
