package segment

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// workshop is the folder of a build and the temporary files in it.
type workshop struct {
	fs     FS
	dir    string
	buffer int // bytes that a spool gathers before it writes them
	mu     sync.Mutex
	made   int // files, by which they are named
	open   map[File]bool
}

// newWorkshop makes room for the spools of a build, of which it has a few for each field at a time.
func newWorkshop(fs FS, dir string, memory, fields int) *workshop {
	return &workshop{fs: fs, dir: dir, buffer: min(max(memory/4/(fields+16), 1<<12), 1<<16)}
}

// spool is written once and then read. It is a temporary file as soon as it is longer than its buffer.
type spool struct {
	shop *workshop
	f    File // nil: all of it is in the buffer
	buf  []byte
}

func (w *workshop) newSpool() *spool { return &spool{shop: w} }

func (w *workshop) newFile() (File, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.made++
	f, err := w.fs.OpenFile(filepath.Join(w.dir, fmt.Sprintf("spool-%d", w.made)), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if w.open == nil {
		w.open = map[File]bool{}
	}
	w.open[f] = true
	return f, nil
}

// close closes what is still open.
func (w *workshop) close() error {
	w.mu.Lock()
	open := w.open
	w.open = nil
	w.mu.Unlock()
	var errs []error
	for f := range open {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// Write appends.
func (s *spool) Write(p []byte) (int, error) {
	if len(s.buf)+len(p) > s.shop.buffer {
		if err := s.flush(); err != nil {
			return 0, err
		}
		if len(p) > s.shop.buffer {
			return s.f.Write(p)
		}
	}
	s.buf = append(s.buf, p...)
	return len(p), nil
}

func (s *spool) flush() (err error) {
	if s.f == nil {
		if s.f, err = s.shop.newFile(); err != nil {
			return err
		}
	}
	_, err = s.f.Write(s.buf)
	s.buf = s.buf[:0]
	return err
}

// writeU32 appends a number of four bytes.
func (s *spool) writeU32(n uint32) error {
	if len(s.buf)+4 > s.shop.buffer {
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.buf = binary.LittleEndian.AppendUint32(s.buf, n)
	return nil
}

// reader returns what was written, from the beginning. Nothing can be written after it.
func (s *spool) reader() (*spoolReader, error) {
	if s.f == nil {
		return &spoolReader{Reader: bufio.NewReaderSize(bytes.NewReader(s.buf), len(s.buf))}, nil
	}
	if s.buf != nil {
		if err := s.flush(); err != nil {
			return nil, err
		}
		s.buf = nil
	}
	if _, err := s.f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return &spoolReader{Reader: bufio.NewReaderSize(s.f, s.shop.buffer)}, nil
}

// remove gives the room back.
func (s *spool) remove() error {
	s.buf = nil
	if s.f == nil {
		return nil
	}
	s.shop.mu.Lock()
	delete(s.shop.open, s.f)
	s.shop.mu.Unlock()
	return errors.Join(s.f.Close(), s.shop.fs.RemoveAll(s.f.Name()))
}

// spoolReader reads a spool in pieces, which it does not copy if they fit its buffer.
type spoolReader struct {
	*bufio.Reader
	long []byte // a piece that does not
}

// take returns the next n bytes, which are valid until the next call.
func (r *spoolReader) take(n int) ([]byte, error) {
	if n <= r.Size() {
		b, err := r.Peek(n)
		if err == io.EOF && len(b) > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		_, err = r.Discard(n) // which leaves the bytes where they are
		return b, err
	}
	r.long = slices.Grow(r.long[:0], n)[:n]
	_, err := io.ReadFull(r, r.long)
	return r.long, err
}

// uvarint reads a number. The error is io.EOF if there is nothing more.
func (r *spoolReader) uvarint() (uint64, error) { return binary.ReadUvarint(r) }

// u32 reads a number of four bytes.
func (r *spoolReader) u32() (uint32, error) {
	b, err := r.take(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}
