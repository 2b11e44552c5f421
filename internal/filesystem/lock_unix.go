//go:build unix

package filesystem

import (
	"errors"
	"os"
	"syscall"
)

// TryLock takes an exclusive advisory lock on an open file or folder, or fails with ErrLocked or ErrLocksUnsupported. The lock
// ends when the file is closed or the process ends, even if it is killed.
func TryLock(f *os.File) error {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrLocked
		default:
			return errors.Join(ErrLocksUnsupported, err)
		}
	}
}
