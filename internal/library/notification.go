package library

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync/atomic"

	"herbarium/internal/filesystem"
)

// notifier signals catalogue changes between processes that share a folder, through a small file that each look-up reads. It
// only affects how soon a change is seen: Library.Run polls the catalogue anyway.
type notifier struct {
	fs     filesystem.FS  // writes notifications
	file   *os.File       // for reading
	mapped *atomic.Uint64 // the file, memory-mapped; nil where it cannot be mapped
	seen   atomic.Uint64  // the stamp of the last catalogue read
}

const notificationFile = "changed"

// stamp is the content of the file: a random number, written with each notification.
type stamp uint64

const stampSize = 8

func openNotifier(fs filesystem.FS, path string) (*notifier, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the change notification file: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.Size() < stampSize {
		err = f.Truncate(stampSize) // a new file; the mapped bytes must exist
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the change notification file: %w", err), f.Close())
	}
	return &notifier{fs: fs, file: f, mapped: mapStamp(f)}, nil
}

// notify signals other processes that the catalogue changed. If it fails, they see the change at their next poll.
func (n *notifier) notify() error {
	var b [stampSize]byte
	rand.Read(b[:])
	f, err := n.fs.OpenFile(n.file.Name(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(b[:])
	return errors.Join(err, f.Close())
}

// stamp returns the current content of the file. Reading the shared map costs almost nothing; reading the file costs a
// system call per listing. Both see a notification as soon as notify has returned.
func (n *notifier) stamp() stamp {
	if n.mapped != nil {
		if s, ok := n.readMapped(); ok {
			return s
		}
	}
	var b [stampSize]byte
	_, _ = n.file.ReadAt(b[:], 0) // an unreadable file counts as one without notifications
	return stamp(binary.NativeEndian.Uint64(b[:]))
}

// readMapped reads the mapped file. It reports false if the file was truncated, which is a memory fault.
func (n *notifier) readMapped() (s stamp, ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return stamp(n.mapped.Load()), true
}

// changed reports whether a notification was sent since the last acknowledged one.
func (n *notifier) changed() bool { return uint64(n.stamp()) != n.seen.Load() }

func (n *notifier) acknowledge(s stamp) { n.seen.Store(uint64(s)) }

// Close closes the file. The map, one page of memory, stays until the process ends because a request may still read it.
func (n *notifier) Close() error { return n.file.Close() }
