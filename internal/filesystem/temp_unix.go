//go:build !windows

package filesystem

import (
	"errors"
	"os"
)

// removedFile returns a temporary file whose name is removed at once.
func removedFile(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "herbarium-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
