// Package filesystem abstracts the file operations with which files are built and put in place, so
// that tests can inject failures.
package filesystem

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// FS is a file system. Finished segments are not read through it, because they are memory-mapped.
type FS interface {
	Mkdir(name string, perm fs.FileMode) error
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	Rename(from, to string) error
	RemoveAll(name string) error // succeeds if the file does not exist
}

// File is an open file of an FS.
type File interface {
	io.ReadWriteSeeker
	io.Closer
	Name() string
	Sync() error
}

// OS is the operating system's file system.
type OS struct{}

// Mkdir, OpenFile, ReadDir, Rename and RemoveAll implement FS.
func (OS) Mkdir(name string, perm fs.FileMode) error  { return os.Mkdir(name, perm) }
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (OS) Rename(from, to string) error               { return os.Rename(from, to) }
func (OS) RemoveAll(name string) error                { return os.RemoveAll(name) }
func (OS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err // a nil *os.File would be a non-nil File
	}
	return f, nil
}

// SyncDir writes the entries of a folder to disk, so that a renamed or created file keeps its name
// after a power failure. Windows cannot sync folders; NTFS keeps a journal of names.
func SyncDir(fs FS, path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := fs.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// WriteFile writes a file atomically and durably: it is written to part, synced and renamed to
// path, and the folder is synced. A failure leaves an existing file at path unchanged and removes
// part.
func WriteFile(fsys FS, part, path string, perm fs.FileMode, write func(io.Writer) error) error {
	f, err := fsys.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil { // the file may exist despite the error
		return errors.Join(err, fsys.RemoveAll(part))
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = fsys.Rename(part, path)
	}
	if err != nil {
		return errors.Join(err, fsys.RemoveAll(part))
	}
	return SyncDir(fsys, filepath.Dir(path))
}

// IsFull reports whether an error is a full disk.
func IsFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// Errors of TryLock and LockShared.
var (
	ErrLocked           = errors.New("another process holds the lock")
	ErrLocksUnsupported = errors.New("the file system does not support locks")
)
