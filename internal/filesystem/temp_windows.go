package filesystem

import (
	"cmp"
	"crypto/rand"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// TempFile returns a temporary file that the system removes when it is closed, also if the process
// is killed. An empty dir is the folder of the system. A file that is open cannot be removed on
// Windows.
func TempFile(dir string) (*os.File, error) {
	path := filepath.Join(cmp.Or(dir, os.TempDir()), "herbarium-"+rand.Text())
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|windows.FILE_FLAG_DELETE_ON_CLOSE, 0o600)
}
