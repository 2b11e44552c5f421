package watch

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// isOpenForWriting asks for a lease, which the system grants only when no process has the file open for writing. What
// keeps it from answering (another owner, a file system without leases) counts as yes, and time decides.
func isOpenForWriting(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	defer f.Close()
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return true
	}
	_, _ = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK) // closing gives it back as well
	return false
}
