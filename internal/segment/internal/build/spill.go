package build

import (
	"bufio"
	"bytes"
	"context"
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

// tempDir is the directory of a build with its temporary files, and the context of the build.
type tempDir struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	fs     filesystem.FS
	dir    string
	buffer int // buffer size of a spill file
	mu     sync.Mutex
	made   int                      // number of created files, used in their names
	open   map[filesystem.File]bool // files that are being read
}

// newTempDir returns the tempDir of a build, which must be closed. A build has a few spill files
// for each field at a time.
func newTempDir(ctx context.Context, fs filesystem.FS, dir string, memory, fields int) *tempDir {
	w := &tempDir{fs: fs, dir: dir, buffer: min(max(memory/4/(fields+16), 1<<12), 1<<16), open: map[filesystem.File]bool{}}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	return w
}

// close closes all open files.
func (w *tempDir) close() (err error) {
	w.cancel(nil)
	for f := range w.open {
		err = errors.Join(err, f.Close())
	}
	return err
}

// spillFile is written once and then read. It creates a temporary file only when its buffer
// overflows, and opens it only to write a buffer or to read: a build has more spill files, one for
// each of up to 10,000 fields, than a process may open.
type spillFile struct {
	tmp  *tempDir
	name string          // of the temporary file; empty while everything is in the buffer
	in   filesystem.File // nil unless it is read
	buf  []byte
}

func (w *tempDir) newSpillFile() *spillFile { return &spillFile{tmp: w} }

// newName returns the name of a new temporary file.
func (w *tempDir) newName() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.made++
	return filepath.Join(w.dir, fmt.Sprintf("spill-%d", w.made))
}

// Write appends p. It returns no error, but ends the build.
func (s *spillFile) Write(p []byte) (int, error) {
	if len(s.buf)+len(p) > s.tmp.buffer {
		s.flush()
		if len(p) > s.tmp.buffer {
			s.append(p)
			return len(p), nil
		}
	}
	s.buf = append(s.buf, p...)
	return len(p), nil
}

func (s *spillFile) flush() {
	s.tmp.checkContext()
	s.append(s.buf)
	s.buf = s.buf[:0]
}

// append appends p to the temporary file.
func (s *spillFile) append(p []byte) {
	mode := os.O_WRONLY | os.O_APPEND
	if s.name == "" {
		s.name = s.tmp.newName()
		mode = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	}
	f, err := s.tmp.fs.OpenFile(s.name, mode, 0o600)
	check(err)
	_, err = f.Write(p)
	check(errors.Join(err, f.Close()))
}

// writeU32 appends a 32-bit integer.
func (s *spillFile) writeU32(n uint32) {
	if len(s.buf)+4 > s.tmp.buffer {
		s.flush()
	}
	s.buf = binary.LittleEndian.AppendUint32(s.buf, n)
}

// writeU64 appends a 64-bit integer.
func (s *spillFile) writeU64(n uint64) {
	s.writeU32(uint32(n))
	s.writeU32(uint32(n >> 32))
}

// reader returns a reader of the content. Nothing can be written afterwards.
func (s *spillFile) reader() *spillReader {
	if s.name == "" {
		return &spillReader{Reader: bufio.NewReaderSize(bytes.NewReader(s.buf), len(s.buf))}
	}
	if len(s.buf) > 0 {
		s.flush()
	}
	s.buf = nil
	s.open()
	_, err := s.in.Seek(0, io.SeekStart)
	check(err)
	return &spillReader{Reader: bufio.NewReaderSize(s.in, s.tmp.buffer)}
}

// open opens the temporary file for reading, unless it is open.
func (s *spillFile) open() {
	if s.in != nil {
		return
	}
	f, err := s.tmp.fs.OpenFile(s.name, os.O_RDONLY, 0)
	check(err)
	s.in = f
	s.tmp.mu.Lock()
	defer s.tmp.mu.Unlock()
	s.tmp.open[f] = true
}

// eachU32 calls f for every 32-bit integer. Nothing can be written to the spill file afterwards.
func (s *spillFile) eachU32(f func(n uint32)) {
	for r := s.reader(); r.more(4); {
		for b := r.next(r.Buffered() / 4 * 4); len(b) > 0; b = b[4:] {
			f(binary.LittleEndian.Uint32(b))
		}
	}
}

// WriteTo writes the content. Nothing can be written to the spill file afterwards.
func (s *spillFile) WriteTo(w io.Writer) (int64, error) { return s.reader().WriteTo(w) }

// remove frees the space.
func (s *spillFile) remove() {
	s.buf = nil
	if s.name == "" {
		return
	}
	if s.in != nil {
		s.tmp.mu.Lock()
		delete(s.tmp.open, s.in)
		s.tmp.mu.Unlock()
		check(s.in.Close())
	}
	check(s.tmp.fs.RemoveAll(s.name))
}

// spillReader reads a spill file without copying pieces that fit its buffer.
type spillReader struct {
	*bufio.Reader
	long []byte // a piece that does not fit
}

// more reports whether the content has n more bytes, and buffers them.
func (r *spillReader) more(n int) bool {
	b, err := r.Peek(n)
	if err == io.EOF && len(b) == 0 {
		return false
	}
	check(err)
	return true
}

// next returns the next n bytes, which are only valid until the next call.
func (r *spillReader) next(n int) []byte {
	if n <= r.Size() {
		b, err := r.Peek(n)
		check(err)
		_, err = r.Discard(n) // the peeked bytes remain valid
		check(err)
		return b
	}
	r.long = slices.Grow(r.long[:0], n)[:n]
	_, err := io.ReadFull(r, r.long)
	check(err)
	return r.long
}

// uvarint reads a varint.
func (r *spillReader) uvarint() uint64 {
	n, err := binary.ReadUvarint(r)
	check(err)
	return n
}

// itemTable is a table of items in a spill file.
type itemTable struct {
	head  file.TableHead
	items *spillFile
}

// WriteTo writes the table.
func (t itemTable) WriteTo(w io.Writer) (int64, error) {
	head, err := t.head.WriteTo(w)
	if err != nil {
		return head, err
	}
	items, err := t.items.WriteTo(w)
	return head + items, err
}

func (t itemTable) remove() { t.items.remove() }

// section is a section to be written.
type section struct {
	tag  file.Tag
	body io.WriterTo
}

// writeSections writes sections of a field and removes the spill files that they were in.
func writeSections(w *file.Writer, field uint32, sections ...section) {
	for _, s := range sections {
		check(w.Section(s.tag, field, s.body))
		if spilled, ok := s.body.(interface{ remove() }); ok {
			spilled.remove()
		}
	}
}
