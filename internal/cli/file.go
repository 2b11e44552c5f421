package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeFile writes a temporary file and renames it to path when it is complete. An existing file is replaced, or kept if
// writing fails. A path that is not a regular file, such as a pipe or a terminal, is written directly.
func writeFile(path string, write func(io.Writer) error) (err error) {
	info, err := os.Stat(path) // follows links
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		return usagef("%s is a folder; expected a file", path)
	case !info.Mode().IsRegular():
		return writeTo(path, os.O_WRONLY, write)
	default:
		if path, err = filepath.EvalSymlinks(path); err != nil { // replace the file, not the link to it
			return err
		}
	}
	part := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()+".part")
	if err := writeTo(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, write); err != nil {
		if undo := os.Remove(part); undo != nil && !errors.Is(undo, fs.ErrNotExist) {
			err = errors.Join(err, undo)
		}
		return err
	}
	if err := os.Rename(part, path); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return nil
}

// writeTo opens path and calls write. A created file is synced.
func writeTo(path string, flags int, write func(io.Writer) error) (err error) {
	f, err := os.OpenFile(path, flags, 0o666)
	if err != nil {
		return fmt.Errorf("open output: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := write(f); err != nil {
		return err
	}
	if flags&os.O_CREATE != 0 {
		return f.Sync()
	}
	return nil
}
