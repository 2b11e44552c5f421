//go:build unix

package library

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks an open file, or fails with errLocked if it is locked.
func tryLock(f *os.File) error {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errLocked
		default:
			return errors.Join(errLocksUnsupported, err)
		}
	}
}
