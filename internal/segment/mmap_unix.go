//go:build unix

package segment

import (
	"os"
	"syscall"
	"unsafe"
)

// mapFile maps a whole file for reading. It must not be empty.
func mapFile(f *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
}

func unmapFile(b []byte) error { return syscall.Munmap(b) }

// dropPages advises the system to release the pages of mapped bytes. They are read again on demand.
func dropPages(b []byte) {
	page := os.Getpagesize()
	if off := int(uintptr(unsafe.Pointer(&b[0])) % uintptr(page)); off > 0 {
		b = b[min(page-off, len(b)):]
	}
	_ = syscall.Madvise(b[:len(b)/page*page], syscall.MADV_DONTNEED) // only advice, so ignore errors
}
