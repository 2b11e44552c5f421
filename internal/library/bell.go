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
type bell struct {
	fs   segment.FS     // to ring
	file *os.File       // to listen
	word *atomic.Uint64 // the file in memory; nil where it cannot be mapped
	last atomic.Uint64  // tone: what was read when the catalogue was last looked at
}

const bellFile = "changed"

// tone is what the file holds: a random number, anew with each ring.
type tone uint64

const toneSize = 8

func openBell(fs segment.FS, path string) (*bell, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the library's bell: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.Size() < toneSize {
		err = f.Truncate(toneSize) // a bell that never rang; what is mapped must be there
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the library's bell: %w", err), f.Close())
	}
	return &bell{fs: fs, file: f, word: mapWord(f)}, nil
}

// ring tells everyone. A failure only means that they notice later.
func (b *bell) ring() error {
	var t [toneSize]byte
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
func (b *bell) listen() tone {
	if b.word != nil {
		if t, ok := b.look(); ok {
			return t
		}
	}
	var t [toneSize]byte
	_, _ = b.file.ReadAt(t[:], 0) // one that cannot be read is a bell that never rang
	return tone(binary.NativeEndian.Uint64(t[:]))
}

// look reads the mapped file. Where somebody has cut it short, that is a fault.
func (b *bell) look() (t tone, ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return tone(b.word.Load()), true
}

// rung reports whether the bell has rung since it was last heard.
func (b *bell) rung() bool { return uint64(b.listen()) != b.last.Load() }

func (b *bell) heard(t tone) { b.last.Store(uint64(t)) }

// Close stops listening. The map stays until the process ends, a page of memory: a request may still be looking at it.
func (b *bell) Close() error { return b.file.Close() }
