package build

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"herbarium/internal/filesystem"
)

// mapScratch maps n bytes of a new file without a name. Its blocks are allocated, so that a full
// disk is an error here and not a fault later. The result is nil if the file system cannot do that.
func mapScratch(dir string, n int) (_ []byte, err error) {
	f, err := filesystem.TempFile(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close() // the map remains
	fd := int(f.Fd())
	if err := unix.Fallocate(fd, 0, 0, int64(n)); errors.Is(err, unix.EOPNOTSUPP) {
		return nil, nil
	} else if err != nil {
		return nil, os.NewSyscallError("fallocate", err)
	}
	b, err := unix.Mmap(fd, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return b, os.NewSyscallError("mmap", err)
}

func unmapScratch(b []byte) error { return os.NewSyscallError("munmap", unix.Munmap(b)) }
