//go:build !windows

package rows

import (
	"errors"
	"os"
)

// TempFile returns a temporary file without a name, so that a killed process leaves nothing behind. An empty dir is the
// folder of the system.
func TempFile(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "herbarium-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
