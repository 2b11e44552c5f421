package library

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"herbarium/internal/filesystem"
)

// notifier signals catalogue changes between processes that share a folder, through a small file that each request reads. It
// only affects how soon a change is seen: Library.Run polls the catalogue anyway.
type notifier struct {
	fs   filesystem.FS         // writes notifications
	file *os.File              // for reading
	seen atomic.Pointer[stamp] // the stamp of the last catalogue read
}

// stamp is the content of the file: a random number, written with each notification.
type stamp [8]byte

func openNotifier(fs filesystem.FS, path string) (*notifier, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the change notification file: %w", err)
	}
	n := &notifier{fs: fs, file: f}
	n.acknowledge(stamp{})
	return n, nil
}

// notify signals other processes that the catalogue changed. If it fails, they see the change at their next poll.
func (n *notifier) notify() error {
	var s stamp
	rand.Read(s[:])
	f, err := n.fs.OpenFile(n.file.Name(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(s[:])
	return errors.Join(err, f.Close())
}

// stamp returns the current content of the file. An unreadable file counts as one without notifications.
func (n *notifier) stamp() (s stamp) {
	_, _ = n.file.ReadAt(s[:], 0)
	return s
}

// changed reports whether a notification was sent since the last acknowledged one.
func (n *notifier) changed() bool { return n.stamp() != *n.seen.Load() }

func (n *notifier) acknowledge(s stamp) { n.seen.Store(&s) }

// Close closes the file.
func (n *notifier) Close() error { return n.file.Close() }
