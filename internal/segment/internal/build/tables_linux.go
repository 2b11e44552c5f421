package build

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// mapScratch maps n bytes of a new file without a name. Its blocks are allocated, so that a full
// disk is an error here and not a fault later. The result is nil if the file system cannot do that.
func mapScratch(dir string, n int) (_ []byte, err error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EISDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, os.NewSyscallError("open", err)
	}
	defer unix.Close(fd) // the map remains
	if err := unix.Fallocate(fd, 0, 0, int64(n)); errors.Is(err, unix.EOPNOTSUPP) {
		return nil, nil
	} else if err != nil {
		return nil, os.NewSyscallError("fallocate", err)
	}
	b, err := unix.Mmap(fd, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return b, os.NewSyscallError("mmap", err)
}

func unmapScratch(b []byte) error { return os.NewSyscallError("munmap", unix.Munmap(b)) }
