//go:build !unix

package file

import "os"

// tryLock returns false: this system has no flock, so leftovers are not removed.
func tryLock(*os.File) bool { return false }
