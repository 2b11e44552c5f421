package ingest

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// A binaryReader reads a format that is not read from front to back: the file is looked into here and there, and hashed
// by itself.
type binaryReader interface {
	rowReader
	io.Closer
}

// openWhole starts to read a file in one of the binary formats. The input closes what it returns.
func openWhole(ctx context.Context, in *input, format Format, f *os.File, found *finding) (rowReader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	at := &readerAt{in: in, file: f, before: in.read, size: info.Size()}
	in.quiet = true
	if f == in.file { // hashed as a whole behind the last row: what changes meanwhile changes the hash
		if err := in.rewind(); err != nil {
			return nil, err
		}
	}
	var rows binaryReader
	switch format {
	case FormatParquet:
		rows, err = newParquetReader(at, at.size)
	case FormatXLSX:
		rows, err = openXLSX(at, in.src, found)
	default:
		rows, err = openDatabase(ctx, in, f, at)
	}
	if err != nil {
		return nil, at.cause(err)
	}
	return &wholeRows{rows, at}, nil
}

// openXLSX starts to read a workbook. Settings that are about columns by name or by place need to know all columns before
// the first row, and only the rows tell how many there are: then the sheet is read once more.
func openXLSX(at *readerAt, src Source, found *finding) (*xlsxReader, error) {
	x, err := newXLSXReader(at, at.size, src.Dialect, found.width)
	if err != nil || found.width > 0 || !src.narrowsByColumn() {
		return x, err
	}
	for err == nil {
		if _, err = x.next(); err == nil {
			err = at.in.stop()
		}
	}
	found.width = len(x.columns())
	if err := errors.Join(ignoreEOF(err), x.Close()); err != nil {
		return nil, err
	}
	return newXLSXReader(at, at.size, src.Dialect, found.width)
}

// wholeRows reads rows until the context ends.
type wholeRows struct {
	binaryReader
	at *readerAt
}

func (w *wholeRows) next() ([][]byte, error) {
	cells, err := w.binaryReader.next()
	switch {
	case err == nil:
		return cells, w.at.in.stop()
	case err == io.EOF:
		return nil, err
	default:
		return nil, w.at.cause(err)
	}
}

func (w *wholeRows) notes() []string {
	if n, ok := w.binaryReader.(noter); ok {
		return n.notes()
	}
	return nil
}

// readerAt reads an input here and there. It ends when the context does and tells how much was read.
type readerAt struct {
	in     *input
	file   *os.File
	size   int64
	before int64 // bytes of the input that had been read before
	read   int64
	failed error // why the file could not be read, which no library is trusted to pass on
}

// ReadAt implements io.ReaderAt.
func (r *readerAt) ReadAt(p []byte, off int64) (int, error) {
	err := r.in.stop()
	if err != nil {
		r.failed = err
		return 0, err
	}
	n, err := r.file.ReadAt(p, off)
	if err != nil && err != io.EOF {
		r.failed = err
	}
	r.read += int64(n)
	r.tell(r.read)
	return n, err
}

// tell tells the progress.
func (r *readerAt) tell(read int64) {
	if r.in.progress != nil {
		r.in.progress(min(r.before+read, r.in.size), r.in.size)
	}
}

// cause prefers the reason why the file could not be read to what a library made of it.
func (r *readerAt) cause(err error) error {
	if r.failed != nil {
		return r.failed
	}
	return err
}

// recoverAs turns a panic of a library into an error: files come from anywhere, and libraries trust them more than they
// should. A deferred call also takes what debug.SetPanicOnFault(true) returns, so that a read outside of memory is a panic
// too.
func recoverAs(err *error, what string, fault bool) {
	if r := recover(); r != nil {
		*err = damaged(fmt.Errorf("panic: %v", r), what)
	}
	debug.SetPanicOnFault(fault)
}

// damaged is the error for a file that a library cannot make sense of.
func damaged(err error, where string) error {
	if e, ok := errors.AsType[*herb.Error](err); ok {
		return herb.Wrap(e.Code, e.Err, "%s: %s", where, e.Message)
	}
	return herb.Wrap(herb.CodeInvalid, err, "%s is damaged or cut off; copy the file again, or write it again", where)
}

// isPrintable reports whether bytes are text: UTF-8 without control characters other than line ends and tabs.
func isPrintable(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7F {
			return false
		}
	}
	return utf8.Valid(b)
}

// spool keeps rows of cells in a temporary file.
type spool struct {
	file *os.File
	out  *bufio.Writer
	size int64
}

func newSpool() (*spool, error) {
	f, err := temporary()
	if err != nil {
		return nil, err
	}
	return &spool{file: f, out: bufio.NewWriterSize(f, windowBytes)}, nil
}

// reset forgets what was written. No part of it may be read any more.
func (s *spool) reset() error {
	s.size = 0
	s.out.Reset(s.file)
	if err := s.file.Truncate(0); err != nil {
		return err
	}
	_, err := s.file.Seek(0, io.SeekStart)
	return err
}

// write adds a row: cells that stand one behind the other in buf, and where each ends.
func (s *spool) write(buf []byte, ends []int) error {
	start := 0
	for _, end := range ends {
		var length [binary.MaxVarintLen64]byte
		n := binary.PutUvarint(length[:], uint64(end-start))
		s.out.Write(length[:n])
		_, err := s.out.Write(buf[start:end])
		if err != nil {
			return err
		}
		s.size += int64(n + end - start)
		start = end
	}
	return nil
}

// part reads what was written from start on, in rows of so many cells.
func (s *spool) part(start int64, width int) (*spoolPart, error) {
	if err := s.out.Flush(); err != nil {
		return nil, err
	}
	return &spoolPart{bufio.NewReaderSize(io.NewSectionReader(s.file, start, s.size-start), 32<<10), width}, nil
}

func (s *spool) Close() error { return s.file.Close() }

// spoolPart implements parquetPart.
type spoolPart struct {
	in    *bufio.Reader
	width int
}

func (p *spoolPart) appendRow(buf []byte, ends []int) ([]byte, []int, error) {
	for range p.width {
		n, err := binary.ReadUvarint(p.in)
		if err != nil {
			return buf, ends, err
		}
		start := len(buf)
		buf = append(buf, make([]byte, n)...)
		if _, err := io.ReadFull(p.in, buf[start:]); err != nil {
			return buf, ends, err
		}
		ends = append(ends, len(buf))
	}
	return buf, ends, nil
}

func (p *spoolPart) done() error { return nil }
