package ingest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"unicode/utf8"

	"herbarium/internal/herb"
)

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
