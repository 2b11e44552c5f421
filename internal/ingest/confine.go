package ingest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"herbarium/internal/herb"
)

// confined opens the files of a folder and nothing outside of it: every path is resolved by os.Root, so that neither ".."
// nor a symbolic link leads out, whenever it is put there. The zero value opens any path; it is for paths that the user
// named, which may be links.
type confined struct {
	root *os.Root
	dir  string
}

// confine opens a folder that the user named. It must be closed.
func confine(dir string) (confined, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return confined{}, cannotRead(dir, err)
	}
	return confined{root, dir}, nil
}

// sub confines access to a folder below. It must be closed too.
func (c confined) sub(dir string) (confined, error) {
	if c.root == nil {
		return confine(dir)
	}
	rel, err := c.rel(dir)
	if err != nil {
		return confined{}, err
	}
	root, err := c.root.OpenRoot(rel)
	if err != nil {
		return confined{}, c.failure(dir, err)
	}
	return confined{root, dir}, nil
}

func (c confined) rel(path string) (string, error) {
	rel, err := filepath.Rel(c.dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", c.escape(path)
	}
	return rel, nil
}

// open opens a file or folder for reading.
func (c confined) open(path string) (*os.File, error) {
	if c.root == nil {
		f, err := os.Open(path)
		return f, c.failure(path, err)
	}
	rel, err := c.rel(path)
	if err != nil {
		return nil, err
	}
	f, err := c.root.Open(rel)
	return f, c.failure(path, err)
}

// stat describes what a path leads to.
func (c confined) stat(path string) (fs.FileInfo, error) {
	if c.root == nil {
		info, err := os.Stat(path)
		return info, c.failure(path, err)
	}
	rel, err := c.rel(path)
	if err != nil {
		return nil, err
	}
	info, err := c.root.Stat(rel)
	return info, c.failure(path, err)
}

// readDir lists a folder by name.
func (c confined) readDir(path string) ([]fs.DirEntry, error) {
	d, err := c.open(path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, c.failure(path, err)
}

// failure names the path in an error of the system.
func (c confined) failure(path string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok && strings.Contains(e.Err.Error(), "escapes") { // os.Root exports no such error
		return c.escape(path)
	}
	return cannotRead(path, err)
}

func (c confined) escape(path string) error {
	return herb.Wrap(herb.CodeInvalid, errEscapes, "%s leads out of the folder %s; put the file itself there, or a relative link to a file in the folder", path, c.dir)
}

// errEscapes tells a path that leads out of its folder from one that cannot be read for other reasons.
var errEscapes = errors.New("path escapes from its folder")

// Close implements io.Closer.
func (c confined) Close() error {
	if c.root == nil {
		return nil
	}
	return c.root.Close()
}

// confined opens the folder that the files of a source must not lead out of. It must be closed.
func (s Source) confined() (confined, error) {
	if s.Root == "" {
		return confined{}, nil
	}
	top, err := confine(s.Root)
	if err != nil || s.Base == "" {
		return top, err
	}
	defer top.Close()
	return top.sub(filepath.Join(s.Root, s.Base))
}

// dataFolder recognizes the folder in which the program keeps its own data. It must never be published: its database has
// the hashes of keys. Folders are compared by identity, so that neither links nor another spelling hide it.
type dataFolder struct {
	info fs.FileInfo // nil: there is none
	seen map[string]bool
}

func newDataFolder(path string) *dataFolder {
	d := &dataFolder{seen: map[string]bool{}}
	if info, err := os.Stat(path); path != "" && err == nil {
		d.info = info
	}
	return d
}

func (d *dataFolder) is(info fs.FileInfo) bool { return d.info != nil && os.SameFile(d.info, info) }

// contains reports whether a path leads to the data folder or to something in it.
func (d *dataFolder) contains(path string) bool {
	if d.info == nil {
		return false
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(abs)
	return err == nil && d.holds(real)
}

// holds is contains for a path without links.
func (d *dataFolder) holds(real string) bool {
	if inside, known := d.seen[real]; known {
		return inside
	}
	info, err := os.Stat(real)
	inside := err == nil && d.is(info)
	if parent := filepath.Dir(real); !inside && parent != real {
		inside = d.holds(parent)
	}
	d.seen[real] = inside
	return inside
}

func errDataFolder(path string) error {
	return herb.Invalidf("%s is in the data folder of the program (--data), which is never published; name another file or folder", path)
}
