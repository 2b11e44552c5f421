package discover

import (
	"io/fs"
	"os"
	"path/filepath"

	"herbarium/internal/herb"
)

// isData reports whether a folder is the one in which the program keeps its own data. It must never be published: its
// database has the hashes of keys. Folders are compared by identity, so that neither links nor another spelling hide it.
func (s *search) isData(info fs.FileInfo) bool { return s.data != nil && os.SameFile(s.data, info) }

// inData reports whether a path leads to the data folder or to something in it.
func (s *search) inData(path string) bool {
	if s.data == nil {
		return false
	}
	folder, err := realPath(path)
	for last := ""; err == nil && folder != last; last, folder = folder, filepath.Dir(folder) {
		if info, err := os.Stat(folder); err == nil && s.isData(info) {
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
