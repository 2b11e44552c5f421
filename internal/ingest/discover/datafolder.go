package discover

import (
	"io/fs"
	"os"
	"path/filepath"

	"herbarium/internal/herb"
)

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
