//go:build unix

package file

import (
	"os"
	"syscall"
)

// mapFile maps an entire file for reading. It must not be empty.
func mapFile(f *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
}

func unmapFile(b []byte) error { return syscall.Munmap(b) }
