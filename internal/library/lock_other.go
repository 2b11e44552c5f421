//go:build !unix

package library

import "os"

// tryLock locks nothing where there is no flock.
func tryLock(*os.File) error { return errLocksUnsupported }
