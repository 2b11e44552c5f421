//go:build !linux

package file

// dropPages does nothing: package syscall has no madvise for this system.
func dropPages([]byte) {}
