//go:build unix

package library

import (
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// mapStamp maps the first eight bytes of a file, which must exist. It returns nil if that fails.
func mapStamp(f *os.File) *atomic.Uint64 {
	b, err := syscall.Mmap(int(f.Fd()), 0, stampSize, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	return (*atomic.Uint64)(unsafe.Pointer(&b[0])) // a map starts at a page boundary, so it is aligned
}
