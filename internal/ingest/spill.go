package ingest

import (
	"context"
	"encoding/binary"
	"io"
	"iter"
	"os"
	"slices"

	"herbarium/internal/ingest/rows"
)

// spillChunk is the number of bytes of rows that are written or read at once.
const spillChunk = 256 << 10

// spill stores the rows of a source until they are published: in memory while they are small, then in an unnamed
// temporary file. A row is the number of its cells and, for each, its length and its bytes; numbers are varints.
type spill struct {
	dir   string // of the temporary file; empty means that of the system
	last  []byte // the last chunk, which is not in the file
	sizes []int  // of the chunks in the file
	file  *os.File
	size  int64 // of all chunks
}

// appendRow appends a row as it is stored.
func appendRow(b []byte, cells [][]byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(cells)))
	for _, c := range cells {
		b = append(binary.AppendUvarint(b, uint64(len(c))), c...)
	}
	return b
}

// add adds rows.
func (s *spill) add(stored []byte) (err error) {
	s.last = append(s.last, stored...)
	s.size += int64(len(stored))
	if len(s.last) < spillChunk {
		return nil
	}
	if s.file == nil {
		if s.file, err = rows.TempFile(s.dir); err != nil {
			return err
		}
	}
	_, err = s.file.Write(s.last)
	s.sizes, s.last = append(s.sizes, len(s.last)), s.last[:0]
	return err
}

// rows yields the cells of all rows, each valid until the next one. nil disables progress. Nothing follows an error.
func (s *spill) rows(ctx context.Context, progress func(read, size int64)) iter.Seq2[[][]byte, error] {
	return func(yield func([][]byte, error) bool) {
		in := io.NewSectionReader(s.file, 0, s.size)
		var buf []byte
		var cells [][]byte
		read := int64(0)
		for i := range len(s.sizes) + 1 {
			chunk, err := s.last, error(nil)
			if i < len(s.sizes) {
				buf = slices.Grow(buf[:0], s.sizes[i])[:s.sizes[i]]
				chunk = buf
				_, err = io.ReadFull(in, chunk)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if read += int64(len(chunk)); progress != nil {
				progress(read, s.size)
			}
			for len(chunk) > 0 {
				cells, chunk = cutRow(cells[:0], chunk)
				if ctx.Err() != nil {
					yield(nil, context.Cause(ctx))
					return
				}
				if !yield(cells, nil) {
					return
				}
			}
		}
	}
}

// cutRow decodes the first of the stored rows: it appends its cells and returns them and the rest.
func cutRow(cells [][]byte, stored []byte) (row [][]byte, rest []byte) {
	count, size := binary.Uvarint(stored)
	stored = stored[size:]
	for range count {
		length, size := binary.Uvarint(stored)
		end := size + int(length)
		cells, stored = append(cells, stored[size:end:end]), stored[end:]
	}
	return cells, stored
}

func (s *spill) Close() error {
	s.last = nil
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// maxBatch is the maximum number of rows in a batch.
const maxBatch = 4096

// rowBatch is a number of rows of one file.
type rowBatch struct {
	file      int
	rows      []byte // see appendRow
	positions []rows.Position
	cells     [][]byte
}

// empty returns a batch for reuse, or a new one if it had to grow for a long row.
func (b *rowBatch) empty() *rowBatch {
	if cap(b.rows) > 4*spillChunk {
		return &rowBatch{}
	}
	b.rows, b.positions = b.rows[:0], b.positions[:0]
	return b
}
