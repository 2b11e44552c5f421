//go:build unix

package watch

import (
	"io/fs"
	"syscall"
)

// identity returns the number that the file system knows a file by.
func identity(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}
