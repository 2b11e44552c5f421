package file

import (
	"os"
	"syscall"
	"unsafe"
)

// dropPages advises the system to release the pages of mapped bytes. They are read again on demand.
func dropPages(b []byte) {
	page := os.Getpagesize()
	if off := int(uintptr(unsafe.Pointer(&b[0])) % uintptr(page)); off > 0 {
		b = b[min(page-off, len(b)):]
	}
	_ = syscall.Madvise(b[:len(b)/page*page], syscall.MADV_DONTNEED) // only advice, so ignore errors
}
