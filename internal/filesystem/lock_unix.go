//go:build unix

package filesystem

import (
	"errors"
	"os"
	"syscall"
)

// TryLock takes an exclusive advisory lock on an open file or folder, or fails with ErrLocked or
// ErrLocksUnsupported. The lock ends when the file is closed or the process ends, even if it is
// killed.
func TryLock(f *os.File) error { return flock(f, syscall.LOCK_EX|syscall.LOCK_NB) }

// LockShared takes a shared advisory lock like TryLock, and waits for the holder of an exclusive
// one.
func LockShared(f *os.File) error { return flock(f, syscall.LOCK_SH) }

func flock(f *os.File, how int) error {
	for {
		switch err := syscall.Flock(int(f.Fd()), how); {
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
