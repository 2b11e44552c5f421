//go:build unix

package library

import (
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// mapWord maps the first eight bytes of a file, which has them; nil if that fails.
func mapWord(f *os.File) *atomic.Uint64 {
	b, err := syscall.Mmap(int(f.Fd()), 0, stampSize, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	return (*atomic.Uint64)(unsafe.Pointer(&b[0])) // a map begins with a page, which is aligned to anything
}
