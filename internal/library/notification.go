package library

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"herbarium/internal/filesystem"
)

// notifier signals catalogue changes between processes that share a folder, through a small file that each request reads. It
// only affects how soon a change is seen: Library.Run polls the catalogue anyway.
type notifier struct {
	fs   filesystem.FS // writes notifications
	file *os.File      // for reading
	seen atomic.Uint64 // the stamp of the last catalogue read
}

func openNotifier(fs filesystem.FS, path string) (*notifier, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the change notification file: %w", err)
	}
	return &notifier{fs: fs, file: f}, nil
}

// notify signals other processes that the catalogue changed. If it fails, they see the change at their next poll.
func (n *notifier) notify() error {
	f, err := n.fs.OpenFile(n.file.Name(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	var stamp [8]byte
	rand.Read(stamp[:])
	_, err = f.Write(stamp[:])
	return errors.Join(err, f.Close())
}

// stamp returns the content of the file, a random number that each notification replaces. An unreadable file counts as one
// without notifications.
func (n *notifier) stamp() uint64 {
	var stamp [8]byte
	_, _ = n.file.ReadAt(stamp[:], 0)
	return binary.LittleEndian.Uint64(stamp[:])
}

// changed reports whether a notification was sent since the last one seen.
func (n *notifier) changed() bool { return n.stamp() != n.seen.Load() }
