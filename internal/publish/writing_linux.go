package publish

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// isOpenForWriting requests a lease, which the system grants only if no process has the file open
// for writing. It returns true if the lease cannot be requested (another owner, a file system
// without leases); the longer settle time then applies.
func isOpenForWriting(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	defer f.Close()
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return true
	}
	_, _ = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK) // closing releases it as well
	return false
}
