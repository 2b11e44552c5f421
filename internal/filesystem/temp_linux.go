package filesystem

import (
	"cmp"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// TempFile returns a temporary file that never has a name, so that a killed process leaves nothing
// behind. An empty dir is the folder of the system. File systems that have no such files give it a
// name for a moment.
func TempFile(dir string) (*os.File, error) {
	f, err := os.OpenFile(cmp.Or(dir, os.TempDir()), os.O_RDWR|unix.O_TMPFILE, 0o600)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EISDIR) {
		return removedFile(dir)
	}
	return f, err
}
