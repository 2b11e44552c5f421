//go:build unix

package app

import "syscall"

// MaxDescriptors returns the limit of open files and connections of the process; 0 if unknown. The
// Go runtime has raised the soft limit to the hard limit.
func MaxDescriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), 1<<20))
}
