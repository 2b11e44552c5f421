package ingest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"slices"

	"herbarium/internal/ingest/rows"
)

const (
	spillMemory = 1 << 20   // bytes of rows that are kept in memory before a temporary file is created
	spillBuffer = 256 << 10 // of reads from the temporary file
)

// spill stores the rows of a source until they are published: in memory while they are small, then in an unnamed
// temporary file. A row is the number of its cells, their lengths and their bytes; numbers are varints.
type spill struct {
	dir  string // of the temporary file; empty: that of the system
	buf  []byte // what is not in the file yet
	file *os.File
	size int64
}

// add appends a row.
func (s *spill) add(cells [][]byte) error {
	before := len(s.buf)
	s.buf = binary.AppendUvarint(s.buf, uint64(len(cells)))
	for _, c := range cells {
		s.buf = binary.AppendUvarint(s.buf, uint64(len(c)))
	}
	for _, c := range cells {
		s.buf = append(s.buf, c...)
	}
	s.size += int64(len(s.buf) - before)
	if len(s.buf) < spillMemory {
		return nil
	}
	if s.file == nil {
		var err error
		if s.file, err = rows.TempFile(s.dir); err != nil {
			return err
		}
	}
	return s.flush()
}

// flush writes the buffer to the file.
func (s *spill) flush() error {
	_, err := s.file.Write(s.buf)
	s.buf = s.buf[:0]
	return err
}

// rows reads all rows from the start, after the last one was added.
func (s *spill) rows(progress func(read, size int64)) (*spillReader, error) {
	var in io.Reader = bytes.NewReader(s.buf)
	if s.file != nil {
		if err := s.flush(); err != nil {
			return nil, err
		}
		in = io.NewSectionReader(s.file, 0, s.size)
	}
	return &spillReader{in: bufio.NewReaderSize(&progressReader{r: in, size: s.size, report: progress}, spillBuffer)}, nil
}

// Close releases the temporary file.
func (s *spill) Close() error {
	s.buf = nil
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// spillReader reads rows of a spill.
type spillReader struct {
	in    *bufio.Reader
	buf   []byte
	ends  []int
	cells [][]byte
}

// next returns the cells of the next row, valid until the next call, or io.EOF.
func (r *spillReader) next() ([][]byte, error) {
	count, err := binary.ReadUvarint(r.in)
	if err != nil {
		return nil, err
	}
	size := 0
	r.ends = r.ends[:0]
	for range count {
		n, err := binary.ReadUvarint(r.in)
		if err != nil {
			return nil, noEOF(err)
		}
		size += int(n)
		r.ends = append(r.ends, size)
	}
	r.buf = slices.Grow(r.buf[:0], size)[:size]
	if _, err := io.ReadFull(r.in, r.buf); err != nil {
		return nil, noEOF(err)
	}
	r.cells = r.cells[:0]
	start := 0
	for _, end := range r.ends {
		r.cells = append(r.cells, r.buf[start:end:end])
		start = end
	}
	return r.cells, nil
}

// noEOF makes an error of an end within a row.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// progressReader reports how much was read.
type progressReader struct {
	r          io.Reader
	read, size int64
	report     func(read, size int64) // nil disables it
}

// Read implements io.Reader.
func (p *progressReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if p.read += int64(n); p.report != nil && n > 0 {
		p.report(p.read, p.size)
	}
	return n, err
}
