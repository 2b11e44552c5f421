package store

import (
	"errors"
	"os"
	"path/filepath"

	"herbarium/internal/filesystem"
)

// LockVersions takes a shared lock on a folder of versions while files are written there that are not in the catalogue yet, so
// that no server removes them as leftovers of a killed process. Closing the file releases the lock. Where the file system does
// not support locks, servers go by the age of files.
func LockVersions(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, ChangedFile), os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filesystem.LockShared(f); err != nil && !errors.Is(err, filesystem.ErrLocksUnsupported) {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
