package library

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"herbarium/internal/segment"
)

// lockSuffix is how the name of the lock file of a publish or download ends. Its stem is that of the files being written.
const lockSuffix = ".lock"

var (
	errLocked           = errors.New("another process holds the lock")
	errLocksUnsupported = errors.New("the file system has no locks")
	errNoLockFile       = errors.New("there is no lock file")
)

// fileLock is an advisory lock that the operating system releases when its process ends, however it ends. It tells the files
// of a running publish from those that a killed one has left.
type fileLock struct{ file *os.File }

// lockPath returns the path of the lock file of a stem: a version, or a version with the name of a download.
func (l *Library) lockPath(stem string) string { return filepath.Join(l.opts.Dir, stem+lockSuffix) }

// stemOf returns the stem of what publishes and downloads write, and of their lock files.
func stemOf(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, segment.PartSuffix), lockSuffix)
	return strings.TrimSuffix(name, fileSuffix)
}

// lock creates and locks the lock file of a stem. Where the file system has no locks it returns nil: Sweep then judges by age.
func (l *Library) lock(stem string) (*fileLock, error) {
	for {
		lock, err := openLock(l.lockPath(stem), os.O_CREATE)
		switch {
		case errors.Is(err, errLocksUnsupported):
			return nil, nil
		case errors.Is(err, errLocked), errors.Is(err, errNoLockFile):
			continue // Sweep took it for an abandoned one and is about to remove it
		case err != nil:
			return nil, fmt.Errorf("creating a lock file: %w", err)
		}
		return lock, nil
	}
}

// openLock locks a lock file: one that is there or, with os.O_CREATE, a new one.
func openLock(path string, flag int) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|flag, 0o600)
	if errors.Is(err, os.ErrNotExist) && flag&os.O_CREATE == 0 {
		return nil, errNoLockFile
	}
	if err != nil {
		return nil, err
	}
	if err := tryLock(f); err != nil {
		err = errors.Join(err, f.Close())
		if errors.Is(err, errLocksUnsupported) && flag&os.O_CREATE != 0 {
			err = errors.Join(err, os.Remove(path)) // nobody must take it for abandoned
		}
		return nil, err
	}
	// Between the opening and the locking, the file may have been removed by the holder of the lock.
	here, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if there, err := os.Stat(path); err != nil || !os.SameFile(here, there) {
		return nil, errors.Join(errNoLockFile, f.Close())
	}
	return &fileLock{f}, nil
}

// release removes the lock file and gives the lock back. A nil lock is none.
func (k *fileLock) release() error {
	if k == nil {
		return nil
	}
	return errors.Join(os.Remove(k.file.Name()), k.file.Close())
}

// keep gives the lock back and leaves the lock file, as a process does that is killed.
func (k *fileLock) unlock() error { return k.file.Close() }
