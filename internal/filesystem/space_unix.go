//go:build linux || darwin

package filesystem

import "syscall"

// DiskSpace returns the bytes that are free for this user and the size of the disk of a folder.
func DiskSpace(folder string) (free, total uint64, ok bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, 0, false
	}
	size := uint64(s.Bsize)
	return uint64(s.Bavail) * size, uint64(s.Blocks) * size, true
}
