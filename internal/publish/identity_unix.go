//go:build unix

package publish

import (
	"io/fs"
	"syscall"
)

// identity returns the inode number of a file.
func identity(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}
