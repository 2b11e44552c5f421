//go:build !linux

package file

// DropPages does nothing: package syscall has no madvise for this system.
func DropPages([]byte) {}
