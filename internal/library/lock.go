package library

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"herbarium/internal/filesystem"
	"herbarium/internal/segment"
)

// lockSuffix is the extension of lock files. A lock file shares its stem with the files being written.
const lockSuffix = ".lock"

var errNoLockFile = errors.New("no such lock file")

// fileLock is an advisory lock that the operating system releases when its process ends, even if it is killed. It
// distinguishes files of a running publish from those of a killed one.
type fileLock struct{ file *os.File }

// lockPath returns the path of the lock file of a stem: a version, or a version with the name of a download.
func (l *Library) lockPath(stem string) string { return filepath.Join(l.opts.Dir, stem+lockSuffix) }

// stemOf returns the stem of a file written by a publish or download, or of its lock file.
func stemOf(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, segment.PartSuffix), lockSuffix)
	return strings.TrimSuffix(strings.TrimSuffix(name, fileSuffix), descriptionSuffix)
}

// lock creates and locks the lock file of a stem. It returns nil if the file system does not support locks; Sweep then
// decides by age.
func (l *Library) lock(stem string) (*fileLock, error) {
	for {
		lock, err := openLock(l.lockPath(stem), os.O_CREATE)
		switch {
		case errors.Is(err, filesystem.ErrLocksUnsupported):
			return nil, nil
		case errors.Is(err, filesystem.ErrLocked), errors.Is(err, errNoLockFile):
			continue // Sweep considered it abandoned and is about to remove it
		case err != nil:
			return nil, fmt.Errorf("creating a lock file: %w", err)
		}
		return lock, nil
	}
}

// openLock locks a lock file, which must exist unless flag has os.O_CREATE.
func openLock(path string, flag int) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|flag, 0o600)
	if errors.Is(err, os.ErrNotExist) && flag&os.O_CREATE == 0 {
		return nil, errNoLockFile
	}
	if err != nil {
		return nil, err
	}
	if err := filesystem.TryLock(f); err != nil {
		err = errors.Join(err, f.Close())
		if errors.Is(err, filesystem.ErrLocksUnsupported) && flag&os.O_CREATE != 0 {
			err = errors.Join(err, os.Remove(path)) // Sweep would consider it abandoned
		}
		return nil, err
	}
	// The holder of the lock may have removed the file between open and lock.
	here, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if there, err := os.Stat(path); err != nil || !os.SameFile(here, there) {
		return nil, errors.Join(errNoLockFile, f.Close())
	}
	return &fileLock{f}, nil
}

// release removes the lock file and releases the lock. It does nothing for a nil lock.
func (k *fileLock) release() error {
	if k == nil {
		return nil
	}
	return errors.Join(os.Remove(k.file.Name()), k.file.Close())
}

// unlock releases the lock and leaves the lock file, as a killed process does.
func (k *fileLock) unlock() error { return k.file.Close() }
