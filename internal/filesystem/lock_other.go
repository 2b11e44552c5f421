//go:build !unix

package filesystem

import "os"

// TryLock and LockShared fail: this system has no flock.
func TryLock(*os.File) error    { return ErrLocksUnsupported }
func LockShared(*os.File) error { return ErrLocksUnsupported }
