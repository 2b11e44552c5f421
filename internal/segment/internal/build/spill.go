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
	ctx     context.Context
	cancel  context.CancelCauseFunc
	fs      filesystem.FS
	dir     string
	buffer  int // buffer size of a spill file
	mu      sync.Mutex
	created int                      // number of created files, used in their names
	open    map[filesystem.File]bool // files that are being read
	tables  tables
}

// newTempDir returns the tempDir of a build, which must be closed. A build has a few spill files
// for each field at a time.
func newTempDir(ctx context.Context, fs filesystem.FS, dir string, memory, fields int) *tempDir {
	w := &tempDir{fs: fs, dir: dir, buffer: min(max(memory/4/(fields+16), 1<<12), 1<<16),
		open: map[filesystem.File]bool{}}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.tables = tables{dir: dir, limit: memory / 2, mapped: map[*byte][]byte{}, fail: w.cancel}
	return w
}

// close closes all open files.
func (w *tempDir) close() (err error) {
	w.cancel(nil)
	for f := range w.open {
		err = errors.Join(err, f.Close())
	}
	return errors.Join(err, w.tables.close())
}

// spillFile is written once and then read. It creates a temporary file only when its buffer
// overflows, and opens it only to write a buffer or to read: a build has more spill files, one for
// each of up to 10,000 fields, than a process may open.
//
// Its first error is kept, as in a bufio.Writer: further writes do nothing, readers report the end,
// and WriteTo, eachU32, spillReader.next and remove return that error. So values are written
// without a check of each one, and a stage checks once, where it reads or removes the file. The
// error also cancels the build, and Create publishes nothing after that. So no error is lost, even
// that of a file whose content is not needed.
type spillFile struct {
	tmp  *tempDir
	name string          // of the temporary file; empty while everything is in the buffer
	in   filesystem.File // nil unless it is read
	buf  []byte
	err  error // the first
}

func (w *tempDir) newSpillFile() *spillFile { return &spillFile{tmp: w} }

// newName returns the name of a new temporary file.
func (w *tempDir) newName() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.created++
	return filepath.Join(w.dir, fmt.Sprintf("spill-%d", w.created))
}

// fail keeps the first error, and cancels the build with it.
func (s *spillFile) fail(err error) {
	if s.err == nil && err != nil {
		s.err = err
		s.tmp.cancel(err)
	}
}

// Write appends p. It returns the first error of the file.
func (s *spillFile) Write(p []byte) (int, error) {
	if len(s.buf)+len(p) > s.tmp.buffer {
		s.flush()
		if len(p) > s.tmp.buffer {
			s.fail(s.append(p))
			return len(p), s.err
		}
	}
	s.buf = append(s.buf, p...)
	return len(p), s.err
}

// flush empties the buffer. It fails if the build is canceled, so that every long stage ends soon.
func (s *spillFile) flush() {
	s.fail(s.tmp.err())
	s.fail(s.append(s.buf))
	s.buf = s.buf[:0]
}

// append appends p to the temporary file, unless an earlier operation failed.
func (s *spillFile) append(p []byte) error {
	if s.err != nil {
		return s.err
	}
	mode := os.O_WRONLY | os.O_APPEND
	if s.name == "" {
		s.name = s.tmp.newName()
		mode = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	}
	f, err := s.tmp.fs.OpenFile(s.name, mode, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(p)
	return errors.Join(err, f.Close())
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
		return &spillReader{bufio.NewReaderSize(bytes.NewReader(s.buf), len(s.buf)), s, nil}
	}
	if len(s.buf) > 0 {
		s.flush()
	}
	s.buf = nil
	s.fail(s.open())
	return &spillReader{bufio.NewReaderSize(s.in, s.tmp.buffer), s, nil}
}

// open opens the temporary file for reading, unless it is open, at its beginning.
func (s *spillFile) open() error {
	if s.err != nil {
		return s.err
	}
	if s.in == nil {
		f, err := s.tmp.fs.OpenFile(s.name, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		s.in = f
		s.tmp.mu.Lock()
		defer s.tmp.mu.Unlock()
		s.tmp.open[f] = true
	}
	_, err := s.in.Seek(0, io.SeekStart)
	return err
}

// eachU32 calls f for every 32-bit integer. Nothing can be written to the spill file afterwards.
func (s *spillFile) eachU32(f func(n uint32)) error {
	for r := s.reader(); r.more(4); {
		b, _ := r.next(r.Buffered() / 4 * 4) // never fails
		for ; len(b) > 0; b = b[4:] {
			f(binary.LittleEndian.Uint32(b))
		}
	}
	return s.err
}

// WriteTo writes the content. Nothing can be written to the spill file afterwards.
func (s *spillFile) WriteTo(w io.Writer) (n int64, err error) {
	if s.name == "" {
		n, err := w.Write(s.buf)
		s.fail(err)
		return int64(n), s.err
	}
	r := s.reader()
	if s.err == nil {
		n, err = r.WriteTo(w)
		s.fail(err)
	}
	return n, s.err
}

// remove frees the space. It returns the first error of the file.
func (s *spillFile) remove() error {
	s.buf = nil
	if s.in != nil {
		s.tmp.mu.Lock()
		delete(s.tmp.open, s.in)
		s.tmp.mu.Unlock()
		s.fail(s.in.Close())
	}
	if s.name != "" {
		s.fail(s.tmp.fs.RemoveAll(s.name))
	}
	return s.err
}

// spillReader reads a spill file without copying pieces that fit its buffer. The spill file keeps
// its errors: after one, more reports false and next returns it.
type spillReader struct {
	*bufio.Reader
	file *spillFile
	long []byte // a piece that does not fit
}

// more reports whether there is more content, and buffers its next n bytes. It fails the build if
// there are fewer.
func (r *spillReader) more(n int) bool {
	if r.file.err != nil {
		return false
	}
	b, err := r.Peek(n)
	if err == io.EOF && len(b) == 0 {
		return false
	}
	r.file.fail(err)
	return err == nil
}

// next returns the next n bytes, which are only valid until the next call.
func (r *spillReader) next(n int) (b []byte, err error) {
	if r.file.err != nil {
		return nil, r.file.err
	}
	if n <= r.Size() {
		b, err = r.Peek(n)
		if err == nil {
			_, err = r.Discard(n) // the peeked bytes remain valid
		}
	} else {
		r.long = slices.Grow(r.long[:0], n)[:n]
		b = r.long
		_, err = io.ReadFull(r, b)
	}
	r.file.fail(err)
	return b, err
}

// nextSized returns the next piece that is preceded by its size.
func (r *spillReader) nextSized() ([]byte, error) { return r.next(int(r.uvarint())) }

// uvarint reads a varint. After an error it returns 0.
func (r *spillReader) uvarint() uint64 {
	if r.file.err != nil {
		return 0
	}
	n, err := binary.ReadUvarint(r)
	if err != nil {
		r.file.fail(err)
		return 0
	}
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

func (t itemTable) remove() error { return t.items.remove() }

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
