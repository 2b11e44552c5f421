package library

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"herbarium/internal/segment"
)

// bell lets processes on the same files tell each other that the catalogue has changed, at the price of reading a few
// bytes per look-up. Nothing depends on it but how soon a change is seen: Library.Run looks at the catalogue anyway.
type bell struct {
	fs   segment.FS   // to ring
	file *os.File     // to listen, which every look-up does, so that what is read need not be allocated
	last atomic.Value // tone: what was read when the catalogue was last looked at
}

const bellFile = "changed"

// tone is what the file holds: random bytes, anew with each ring.
type tone [8]byte

func openBell(fs segment.FS, path string) (*bell, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the library's bell: %w", err)
	}
	b := &bell{fs: fs, file: f}
	b.last.Store(tone{})
	return b, nil
}

// ring tells everyone. A failure only means that they notice later.
func (b *bell) ring() error {
	var t tone
	rand.Read(t[:])
	f, err := b.fs.OpenFile(b.file.Name(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(t[:])
	return errors.Join(err, f.Close())
}

func (b *bell) listen() tone {
	var t tone
	_, _ = b.file.ReadAt(t[:], 0) // an empty file is a bell that never rang
	return t
}

// rung reports whether the bell has rung since it was last heard.
func (b *bell) rung() bool { return b.listen() != b.last.Load().(tone) }

func (b *bell) heard(t tone) { b.last.Store(t) }

func (b *bell) Close() error { return b.file.Close() }
