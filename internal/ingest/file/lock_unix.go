//go:build unix

package file

import (
	"os"
	"syscall"
)

// tryLock locks an open folder until it is closed. It returns false if another process has locked it.
func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
