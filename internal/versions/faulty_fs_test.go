package versions_test

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"

	"herbarium/internal/filesystem"
)

// fault is a way in which a file operation fails.
type fault struct {
	name  string
	only  string // the kind of operation that can fail in this way; empty means every kind
	path  string // the last element of the only path that is affected; empty means any
	does  func(do func() error) error
	write func(f filesystem.File, p []byte) (int, error) // nil: as does
	after bool                                           // the operation runs despite the error
	ever  bool                                           // all later operations fail as well
}

// mayLeave reports whether a publish that fails in this way cannot remove its files.
func (f fault) mayLeave(o operation) bool {
	return f.ever || o.kind == "remove" || f.after && (o.kind == "mkdir" || o.kind == "rename")
}

// Errors of a disk.
const (
	errDisk = syscall.EIO
	errFull = syscall.ENOSPC
)

// faults returns the ways in which operations fail.
func faults() []fault {
	before := func(func() error) error { return errDisk }
	after := func(do func() error) error {
		_ = do() // as if a network file system lost the response
		return errDisk
	}
	return []fault{
		{name: "not done", does: before},
		{name: "done, but reported as failed", does: after, after: true},
		{name: "nothing works from here on", does: before, ever: true},
		{name: "disk full", only: "write", write: func(f filesystem.File, p []byte) (int, error) {
			n, _ := f.Write(p[:len(p)/2])
			return n, errFull
		}},
		{name: "short write", only: "write", write: func(f filesystem.File, p []byte) (int, error) {
			return f.Write(p[:len(p)/2])
		}},
	}
}

// lies returns the ways in which a file is corrupted silently.
func lies() []fault {
	flip := func(at func(size int) int) func(filesystem.File, []byte) (int, error) {
		return func(f filesystem.File, p []byte) (int, error) {
			p = bytes.Clone(p)
			p[at(len(p))] ^= 1
			return f.Write(p)
		}
	}
	return []fault{
		{name: "first bit", only: "write", path: "segment", write: flip(func(int) int { return 0 })},
		{name: "bit in the middle", only: "write", path: "segment",
			write: flip(func(size int) int { return size / 2 })},
		{name: "last bit", only: "write", path: "segment", write: flip(func(size int) int { return size - 1 })},
		{name: "second half", only: "write", path: "segment", write: func(f filesystem.File, p []byte) (int, error) {
			_, err := f.Write(p[:len(p)/2])
			return len(p), err
		}},
		{name: "name", only: "rename", does: func(func() error) error { return nil }},
	}
}

// operation is a file operation.
type operation struct {
	// "mkdir", "open", "read dir", "rename", "remove", or of an open file "read", "write", "seek",
	// "sync", "close"
	kind string
	path string // its last element
}

// faultyFS is a file system in which one operation fails.
type faultyFS struct {
	filesystem.OS
	mu      sync.Mutex
	fault   fault
	at      int // number of the operation that fails, among those that the fault can affect; negative if none does
	counted int // such operations
	all     []operation
	fired   []operation
	open    int // files
}

// arm makes the operation with a number, counted from now, fail.
func (f *faultyFS) arm(kind fault, at int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault, f.at, f.counted, f.all, f.fired = kind, at, 0, nil, nil
}

// disarm disables the fault and returns the number of operations and those that failed.
func (f *faultyFS) disarm() (counted int, fired []operation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = -1
	return f.counted, f.fired
}

// hit counts an operation and reports whether it fails.
func (f *faultyFS) hit(kind, path string) (fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := operation{kind, filepath.Base(path)}
	f.all = append(f.all, o)
	if f.fault.only != "" && f.fault.only != kind || f.fault.path != "" && f.fault.path != o.path {
		return fault{}, false
	}
	f.counted++
	if f.at < 0 || f.counted-1 < f.at || f.counted-1 > f.at && !f.fault.ever {
		return fault{}, false
	}
	f.fired = append(f.fired, o)
	return f.fault, true
}

func (f *faultyFS) do(kind, path string, do func() error) error {
	if wrong, ok := f.hit(kind, path); ok {
		return wrong.does(do)
	}
	return do()
}

// opened counts open files.
func (f *faultyFS) opened(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open += n
}

// Mkdir, OpenFile, ReadDir, Rename and RemoveAll implement filesystem.FS.
func (f *faultyFS) Mkdir(name string, perm fs.FileMode) error {
	return f.do("mkdir", name, func() error { return f.OS.Mkdir(name, perm) })
}

func (f *faultyFS) OpenFile(name string, flag int, perm fs.FileMode) (filesystem.File, error) {
	var file filesystem.File
	err := f.do("open", name, func() (err error) {
		file, err = f.OS.OpenFile(name, flag, perm)
		return err
	})
	if err != nil {
		if file != nil {
			_ = file.Close()
		}
		return nil, err
	}
	f.opened(1)
	return &faultyFile{File: file, fs: f}, nil
}

func (f *faultyFS) ReadDir(name string) (entries []fs.DirEntry, err error) {
	err = f.do("read dir", name, func() (err error) {
		entries, err = f.OS.ReadDir(name)
		return err
	})
	for i, e := range entries {
		entries[i] = faultyEntry{e, f}
	}
	return entries, err
}

func (f *faultyFS) Rename(from, to string) error {
	return f.do("rename", to, func() error { return f.OS.Rename(from, to) })
}

func (f *faultyFS) RemoveAll(name string) error {
	return f.do("remove", name, func() error { return f.OS.RemoveAll(name) })
}

// faultyEntry is a directory entry of a faultyFS.
type faultyEntry struct {
	fs.DirEntry
	fs *faultyFS
}

// Info implements fs.DirEntry.
func (e faultyEntry) Info() (info fs.FileInfo, err error) {
	err = e.fs.do("stat", e.Name(), func() (err error) {
		info, err = e.DirEntry.Info()
		return err
	})
	return info, err
}

// faultyFile is a file of a faultyFS.
type faultyFile struct {
	filesystem.File
	fs     *faultyFS
	closed bool
}

// Read, Write, Seek, Sync and Close implement filesystem.File.
func (f *faultyFile) Read(p []byte) (n int, err error) {
	if wrong, ok := f.fs.hit("read", f.Name()); ok {
		return 0, wrong.does(func() error { _, err := f.File.Read(p); return err })
	}
	return f.File.Read(p)
}

func (f *faultyFile) Write(p []byte) (n int, err error) {
	wrong, ok := f.fs.hit("write", f.Name())
	if ok && wrong.write != nil {
		return wrong.write(f.File, p)
	}
	do := func() (err error) {
		n, err = f.File.Write(p)
		return err
	}
	if ok {
		return n, wrong.does(do)
	}
	return n, do()
}

func (f *faultyFile) Seek(offset int64, whence int) (n int64, err error) {
	err = f.fs.do("seek", f.Name(), func() (err error) {
		n, err = f.File.Seek(offset, whence)
		return err
	})
	return n, err
}

func (f *faultyFile) Sync() error { return f.fs.do("sync", f.Name(), f.File.Sync) }

// Close closes the file even if it returns an error, because the number of open files is limited.
func (f *faultyFile) Close() error {
	closing := f.File.Close()
	if f.closed {
		return closing
	}
	f.closed = true
	f.fs.opened(-1)
	return f.fs.do("close", f.Name(), func() error { return closing })
}
