//go:build linux || darwin

package doctor

import (
	"io/fs"
	"syscall"
)

// diskSpace returns the bytes that are free for this user and the size of the disk of a folder.
func diskSpace(folder string) (free, total uint64, ok bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, 0, false
	}
	size := uint64(s.Bsize)
	return uint64(s.Bavail) * size, uint64(s.Blocks) * size, true
}

// owner returns the user that a file belongs to.
func owner(info fs.FileInfo) (uid int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}
