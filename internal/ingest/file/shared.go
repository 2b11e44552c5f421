package file

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// Shared is a file that several sources read, usually one table each. It is opened once for all of
// them, so that its hash, a copy of its content and what its tables have in common are not made
// again for each, and its limits apply to all of them together. It is safe for concurrent use. A
// nil Shared is a file that one source reads.
type Shared struct {
	usage rows.Usage
	mu    sync.Mutex
	left  int   // sources that have not been released
	idle  *File // that is open and not in use; nil: none
}

// NewShared returns a Shared for a number of sources.
func NewShared(sources int) *Shared { return &Shared{left: sources} }

// Open returns the file as it was when the first source opened it, or opens it. The caller returns
// it with Return.
func (s *Shared) Open(ctx context.Context, path string, o Options) (*File, error) {
	if s == nil {
		return Open(ctx, path, o)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.idle; f != nil {
		s.idle = nil
		if f.opts.Entry == o.Entry {
			f.ctx, f.opts, f.reported = ctx, o, 0
			return f, nil
		}
		f.Close()
	}
	f, err := Open(ctx, path, o)
	if err == nil && s.left > 0 {
		f.usage = &s.usage
	}
	return f, err
}

// Return keeps a file for the next source, or closes it.
func (s *Shared) Return(f *File) {
	if s != nil && f.failed == nil && f.Changed() == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.left > 0 && s.idle == nil {
			s.idle = f
			return
		}
	}
	f.Close()
}

// Release declares that a source does not need the file any more. After the last one the file is
// closed, and a source that is read again opens it alone.
func (s *Shared) Release() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left--
	if s.left <= 0 && s.idle != nil {
		s.idle.Close()
		s.idle = nil
	}
}

// TempCopy copies the output of a reader to a temporary file without a name.
func TempCopy(dir string, r io.Reader) (f *os.File, size int64, err error) {
	f, err = filesystem.TempFile(dir)
	if err != nil {
		return nil, 0, err
	}
	size, err = copyAll(f, r)
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, size, nil
}

func createCopy(path string, r io.Reader) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = copyAll(out, r)
	return errors.Join(err, out.Close())
}

// copyAll copies in large pieces, which methods of the reader or writer for copying would not do.
func copyAll(to io.Writer, from io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, bufferBytes))
}

// copyDir returns a temporary folder for copies of a database, for a library that opens files by
// name. It is removed when the library has opened them, so a process leaves one behind only if it
// is killed before. Such leftovers are removed after a day.
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

// ErrEscapes is the cause of errors about paths that lead out of their folder.
var ErrEscapes = errors.New("path escapes from its folder")

// Dir opens the files of one folder. Paths are resolved by os.Root, so that neither ".." nor a
// symbolic link leads out of the folder, even if it is replaced meanwhile. The zero value opens any
// path; it is for paths that the user named.
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

func (d Dir) Open(path string) (*os.File, error) {
	return resolve(d, path, os.Open, d.root.Open)
}

func (d Dir) Stat(path string) (fs.FileInfo, error) {
	return resolve(d, path, os.Stat, d.root.Stat)
}

// resolve calls anywhere with a path, or within with the path relative to the folder if there is
// one.
func resolve[T any](d Dir, path string, anywhere, within func(string) (T, error)) (result T, err error) {
	target, open := path, anywhere
	if d.root != nil {
		open = within
		target, err = d.Rel(path)
		if err != nil {
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
	// os.Root exports no such error
	if e, ok := errors.AsType[*fs.PathError](err); ok && strings.Contains(e.Err.Error(), "escapes") {
		return d.escape(path)
	}
	return CannotRead(path, err)
}

func (d Dir) escape(path string) error {
	return herb.At(path, herb.Wrap(herb.CodeInvalid, ErrEscapes,
		"leads out of the folder %s; put the file itself there, or a relative link to a file in the folder", d.path))
}

// CannotRead returns the error for a path that cannot be opened. The message of the operating
// system repeats the path, so only its cause is kept.
func CannotRead(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return herb.At(path, herb.Errorf(herb.CodeNotFound, "no such file or directory"))
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return herb.At(path, herb.Wrap(herb.CodeInvalid, err, "cannot be read"))
}
