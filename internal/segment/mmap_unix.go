//go:build unix

package segment

import (
	"os"
	"syscall"
	"unsafe"
)

// mapFile maps a whole file, which is not empty, for reading.
func mapFile(f *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
}

func unmapFile(b []byte) error { return syscall.Munmap(b) }

// forget tells the system that mapped bytes are not needed for now. They are read again when they are.
func forget(b []byte) {
	page := os.Getpagesize()
	if off := int(uintptr(unsafe.Pointer(&b[0])) % uintptr(page)); off > 0 {
		b = b[min(page-off, len(b)):]
	}
	_ = syscall.Madvise(b[:len(b)/page*page], syscall.MADV_DONTNEED) // only advice
}
