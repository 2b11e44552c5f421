package segment

import (
	"io"
	"io/fs"
	"os"
)

// FS is what is done to files while a segment is built and put in its place. Tests put one in between that fails.
// Reading a finished segment does not go through it: the file is mapped.
type FS interface {
	Mkdir(name string, perm fs.FileMode) error
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	ReadDir(name string) ([]fs.DirEntry, error)
	Rename(from, to string) error
	RemoveAll(name string) error // it is no error if there is nothing to remove
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

// Mkdir, OpenFile, ReadDir, Rename and RemoveAll are FS.
func (OS) Mkdir(name string, perm fs.FileMode) error  { return os.Mkdir(name, perm) }
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (OS) Rename(from, to string) error               { return os.Rename(from, to) }
func (OS) RemoveAll(name string) error                { return os.RemoveAll(name) }
func (OS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err // a nil *os.File would not be a nil File
	}
	return f, nil
}
