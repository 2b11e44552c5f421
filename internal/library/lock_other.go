//go:build !unix

package library

import "os"

// tryLock fails: this system has no flock.
func tryLock(*os.File) error { return errLocksUnsupported }
