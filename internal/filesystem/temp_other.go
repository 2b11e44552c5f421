//go:build !windows && !linux

package filesystem

import "os"

// TempFile returns a temporary file whose name is removed at once, so that a killed process leaves
// nothing behind. An empty dir is the folder of the system.
func TempFile(dir string) (*os.File, error) { return removedFile(dir) }
