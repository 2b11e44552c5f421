//go:build !unix

package filesystem

import "os"

// TryLock fails: this system has no flock.
func TryLock(*os.File) error { return ErrLocksUnsupported }
