package build

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

	"herbarium/internal/filesystem"
	"herbarium/internal/segment/internal/file"
)

// tempDir is the directory of a build and its temporary files.
type tempDir struct {
	fs     filesystem.FS
	dir    string
	buffer int // buffer size of a spill file
	mu     sync.Mutex
	made   int // number of created files, used in their names
	open   map[filesystem.File]bool
}

// newTempDir returns the tempDir of a build. A build has a few spill files for each field at a time.
func newTempDir(fs filesystem.FS, dir string, memory, fields int) *tempDir {
	return &tempDir{fs: fs, dir: dir, buffer: min(max(memory/4/(fields+16), 1<<12), 1<<16)}
}

// spillFile is written once and then read. It creates a temporary file only when its buffer overflows.
type spillFile struct {
	tmp *tempDir
	f   filesystem.File // nil while everything is in the buffer
	buf []byte
}

func (w *tempDir) newSpillFile() *spillFile { return &spillFile{tmp: w} }

func (w *tempDir) newFile() (filesystem.File, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.made++
	f, err := w.fs.OpenFile(filepath.Join(w.dir, fmt.Sprintf("spill-%d", w.made)), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if w.open == nil {
		w.open = map[filesystem.File]bool{}
	}
	w.open[f] = true
	return f, nil
}

// close closes all open files.
func (w *tempDir) close() error {
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

// Write appends p.
func (s *spillFile) Write(p []byte) (int, error) {
	if len(s.buf)+len(p) > s.tmp.buffer {
		if err := s.flush(); err != nil {
			return 0, err
		}
		if len(p) > s.tmp.buffer {
			return s.f.Write(p)
		}
	}
	s.buf = append(s.buf, p...)
	return len(p), nil
}

func (s *spillFile) flush() (err error) {
	if s.f == nil {
		if s.f, err = s.tmp.newFile(); err != nil {
			return err
		}
	}
	_, err = s.f.Write(s.buf)
	s.buf = s.buf[:0]
	return err
}

// writeU32 appends a 32-bit integer.
func (s *spillFile) writeU32(n uint32) error {
	if len(s.buf)+4 > s.tmp.buffer {
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.buf = binary.LittleEndian.AppendUint32(s.buf, n)
	return nil
}

// reader returns a reader of the content. Nothing can be written afterwards.
func (s *spillFile) reader() (*spillReader, error) {
	if s.f == nil {
		return &spillReader{Reader: bufio.NewReaderSize(bytes.NewReader(s.buf), len(s.buf))}, nil
	}
	if len(s.buf) > 0 {
		if err := s.flush(); err != nil {
			return nil, err
		}
	}
	s.buf = nil
	if _, err := s.f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return &spillReader{Reader: bufio.NewReaderSize(s.f, s.tmp.buffer)}, nil
}

// eachU32 calls f for every 32-bit integer. Nothing can be written to the spill file afterwards.
func (s *spillFile) eachU32(f func(n uint32) error) error {
	r, err := s.reader()
	if err != nil {
		return err
	}
	var buf [1 << 12]byte
	for {
		n, err := io.ReadFull(r, buf[:])
		if err == io.EOF {
			return nil
		}
		if err != nil && err != io.ErrUnexpectedEOF {
			return err
		}
		for b := buf[:n]; len(b) >= 4; b = b[4:] {
			if err := f(binary.LittleEndian.Uint32(b)); err != nil {
				return err
			}
		}
	}
}

// WriteTo writes the content. Nothing can be written to the spill file afterwards.
func (s *spillFile) WriteTo(w io.Writer) (int64, error) {
	r, err := s.reader()
	if err != nil {
		return 0, err
	}
	return r.WriteTo(w)
}

// remove frees the space.
func (s *spillFile) remove() error {
	s.buf = nil
	if s.f == nil {
		return nil
	}
	s.tmp.mu.Lock()
	delete(s.tmp.open, s.f)
	s.tmp.mu.Unlock()
	return errors.Join(s.f.Close(), s.tmp.fs.RemoveAll(s.f.Name()))
}

// spillReader reads a spill file without copying pieces that fit its buffer.
type spillReader struct {
	*bufio.Reader
	long []byte // a piece that does not fit
}

// next returns the next n bytes, which are only valid until the next call.
func (r *spillReader) next(n int) ([]byte, error) {
	if n <= r.Size() {
		b, err := r.Peek(n)
		if err == io.EOF && len(b) > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		_, err = r.Discard(n) // the peeked bytes remain valid
		return b, err
	}
	r.long = slices.Grow(r.long[:0], n)[:n]
	_, err := io.ReadFull(r, r.long)
	return r.long, err
}

// uvarint reads a varint. It returns io.EOF at the end.
func (r *spillReader) uvarint() (uint64, error) {
	b, err := r.Peek(binary.MaxVarintLen64) // fewer at the end
	n, size := binary.Uvarint(b)
	switch {
	case size > 0:
		_, err = r.Discard(size)
	case err == nil || err == io.EOF && len(b) > 0:
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// section is a section to be written.
type section struct {
	tag  file.Tag
	body io.WriterTo
}

// writeSections writes sections of a field and removes the spill files that they were in.
func writeSections(w *file.Writer, field uint32, sections ...section) error {
	for _, s := range sections {
		if err := w.Section(s.tag, field, s.body); err != nil {
			return err
		}
		if spilled, ok := s.body.(interface{ remove() error }); ok {
			if err := spilled.remove(); err != nil {
				return err
			}
		}
	}
	return nil
}
