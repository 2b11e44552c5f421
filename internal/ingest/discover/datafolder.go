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
}

func newDataFolder(path string) (d dataFolder) {
	if info, err := os.Stat(path); path != "" && err == nil {
		d.info = info
	}
	return d
}

func (d dataFolder) is(info fs.FileInfo) bool { return d.info != nil && os.SameFile(d.info, info) }

// contains reports whether a path leads to the data folder or to something in it.
func (d dataFolder) contains(path string) bool {
	if d.info == nil {
		return false
	}
	folder, err := realPath(path)
	for last := ""; err == nil && folder != last; last, folder = folder, filepath.Dir(folder) {
		if info, err := os.Stat(folder); err == nil && d.is(info) {
			return true
		}
	}
	return false
}

// realPath returns the absolute path to which a path leads.
func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

func errDataFolder(path string) error {
	return herb.Invalidf("%s is in the data folder of the program (--data), which is never published; name another file or folder", path)
}
