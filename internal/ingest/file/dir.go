package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"herbarium/internal/herb"
)

// ErrEscapes is the cause of errors about paths that lead out of their folder.
var ErrEscapes = errors.New("path escapes from its folder")

// Dir opens the files of one folder. Paths are resolved by os.Root, so that neither ".." nor a symbolic link leads out of
// the folder, even if it is replaced meanwhile. The zero value opens any path; it is for paths that the user named.
type Dir struct {
	root *os.Root
	path string
}

// OpenDir opens a folder that the user named. The caller closes it.
func OpenDir(path string) (Dir, error) { return Dir{}.Sub(path) }

// Path returns the folder, or "" for the zero value.
func (d Dir) Path() string { return d.path }

// Sub opens a folder below. The caller closes it.
func (d Dir) Sub(path string) (Dir, error) {
	root, err := resolve(d, path, os.OpenRoot, d.root.OpenRoot)
	return Dir{root, path}, err
}

// Rel returns a path relative to the folder. It fails if the path is outside.
func (d Dir) Rel(path string) (string, error) {
	rel, err := filepath.Rel(d.path, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", d.escape(path)
	}
	return rel, nil
}

// Open opens a file or folder for reading.
func (d Dir) Open(path string) (*os.File, error) {
	return resolve(d, path, os.Open, d.root.Open)
}

// Stat describes the file that a path leads to.
func (d Dir) Stat(path string) (fs.FileInfo, error) {
	return resolve(d, path, os.Stat, d.root.Stat)
}

// resolve calls anywhere with a path, or within with the path relative to the folder if there is one.
func resolve[T any](d Dir, path string, anywhere, within func(string) (T, error)) (result T, err error) {
	target, open := path, anywhere
	if d.root != nil {
		open = within
		if target, err = d.Rel(path); err != nil {
			return result, err
		}
	}
	result, err = open(target)
	return result, d.failure(path, err)
}

// ReadDir lists a folder, sorted by name.
func (d Dir) ReadDir(path string) ([]fs.DirEntry, error) {
	f, err := d.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, d.failure(path, err)
}

// Close implements io.Closer.
func (d Dir) Close() error {
	if d.root == nil {
		return nil
	}
	return d.root.Close()
}

// failure adds the path to an error of the operating system.
func (d Dir) failure(path string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok && strings.Contains(e.Err.Error(), "escapes") { // os.Root exports no such error
		return d.escape(path)
	}
	return CannotRead(path, err)
}

func (d Dir) escape(path string) error {
	return herb.Wrap(herb.CodeInvalid, ErrEscapes, "%s: leads out of the folder %s; put the file itself there, or a relative link to a file in the folder", path, d.path)
}

// CannotRead returns the error for a path that cannot be opened. The message of the operating system repeats the path, so
// only its cause is kept.
func CannotRead(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return herb.Errorf(herb.CodeNotFound, "%s: no such file or directory", path)
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return herb.Wrap(herb.CodeInvalid, err, "%s: cannot be read", path)
}
