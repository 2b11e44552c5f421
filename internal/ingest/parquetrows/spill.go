package parquetrows

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
	"slices"

	"herbarium/internal/ingest/rows"
)

// spillFile holds the cells of columns for which there is no room in memory.
type spillFile struct {
	file *os.File
	out  *bufio.Writer
	size int64
}

func newSpillFile(b *rows.Budget) (*spillFile, error) {
	f, err := b.TempFile()
	if err != nil {
		return nil, err
	}
	return &spillFile{file: f, out: bufio.NewWriterSize(f, 256<<10)}, nil
}

// reset discards the content. Readers of it become invalid.
func (s *spillFile) reset() error {
	s.size = 0
	s.out.Reset(s.file)
	if err := s.file.Truncate(0); err != nil {
		return err
	}
	_, err := s.file.Seek(0, io.SeekStart)
	return err
}

// write appends a row.
func (s *spillFile) write(cells [][]byte) error {
	for _, c := range cells {
		n, err := s.out.Write(binary.AppendUvarint(s.out.AvailableBuffer(), uint64(len(c))))
		if err != nil {
			return err
		}
		if _, err := s.out.Write(c); err != nil {
			return err
		}
		s.size += int64(n + len(c))
	}
	return nil
}

// read returns the rows from start on, of width cells each.
func (s *spillFile) read(start int64, width int) (*spilledColumns, error) {
	if err := s.out.Flush(); err != nil {
		return nil, err
	}
	return &spilledColumns{bufio.NewReaderSize(io.NewSectionReader(s.file, start, s.size-start), 32<<10), width}, nil
}

// spilledColumns implements part.
type spilledColumns struct {
	in    *bufio.Reader
	width int
}

func (p *spilledColumns) appendRow(buf []byte, ends []int) ([]byte, []int, error) {
	for range p.width {
		n, err := binary.ReadUvarint(p.in)
		if err != nil {
			return buf, ends, err
		}
		start := len(buf)
		buf = slices.Grow(buf, int(n))[:start+int(n)]
		if _, err := io.ReadFull(p.in, buf[start:]); err != nil {
			return buf, ends, err
		}
		ends = append(ends, len(buf))
	}
	return buf, ends, nil
}

func (p *spilledColumns) done() error { return nil }
