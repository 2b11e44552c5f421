package library

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync/atomic"

	"herbarium/internal/segment"
)

// bell lets processes on the same files tell each other that the catalogue has changed, at the price of looking at a few
// bytes per look-up. Nothing depends on it but how soon a change is seen: Library.Run looks at the catalogue anyway.
type notifier struct {
	fs     segment.FS     // to ring
	file   *os.File       // to listen
	mapped *atomic.Uint64 // the file in memory; nil where it cannot be mapped
	seen   atomic.Uint64  // tone: what was read when the catalogue was last looked at
}

const notificationFile = "changed"

// tone is what the file holds: a random number, anew with each ring.
type stamp uint64

const stampSize = 8

func openNotifier(fs segment.FS, path string) (*notifier, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the library's bell: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.Size() < stampSize {
		err = f.Truncate(stampSize) // a bell that never rang; what is mapped must be there
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the library's bell: %w", err), f.Close())
	}
	return &notifier{fs: fs, file: f, mapped: mapWord(f)}, nil
}

// ring tells everyone. A failure only means that they notice later.
func (b *notifier) notify() error {
	var t [stampSize]byte
	rand.Read(t[:])
	f, err := b.fs.OpenFile(b.file.Name(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(t[:])
	return errors.Join(err, f.Close())
}

// listen returns what the file holds now. Looking at the mapped file costs next to nothing, reading it a system call for
// every listing. Both show a ring as soon as it has returned: a map that is shared is the file.
func (b *notifier) stamp() stamp {
	if b.mapped != nil {
		if t, ok := b.readMapped(); ok {
			return t
		}
	}
	var t [stampSize]byte
	_, _ = b.file.ReadAt(t[:], 0) // one that cannot be read is a bell that never rang
	return stamp(binary.NativeEndian.Uint64(t[:]))
}

// look reads the mapped file. Where somebody has cut it short, that is a fault.
func (b *notifier) readMapped() (t stamp, ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return stamp(b.mapped.Load()), true
}

// rung reports whether the bell has rung since it was last heard.
func (b *notifier) changed() bool { return uint64(b.stamp()) != b.seen.Load() }

func (b *notifier) acknowledge(t stamp) { b.seen.Store(uint64(t)) }

// Close stops listening. The map stays until the process ends, a page of memory: a request may still be looking at it.
func (b *notifier) Close() error { return b.file.Close() }
