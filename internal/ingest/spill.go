package ingest

import (
	"context"
	"encoding/binary"
	"io"
	"iter"
	"os"
	"slices"

	"herbarium/internal/filesystem"
	"herbarium/internal/text"
)

// spillChunk is the number of bytes of rows that are written or read at once.
const spillChunk = 256 << 10

// spill stores the rows of a source until they are published: in memory while they are small, then
// in an unnamed temporary file. A row is where it was read, the number of its cells and, for each,
// its length and its bytes; numbers are varints.
type spill struct {
	dir   string // of the temporary file; empty means that of the system
	last  []byte // the last chunk, which is not in the file
	sizes []int  // of the chunks in the file
	file  *os.File
	size  int64 // of all chunks
	lists []int // columns whose arrays are read as lists with commas
}

// storedRow is a row of a file. Its cells are valid until the next one is read.
type storedRow struct {
	file, row, line int // numbers; see rows.Position
	cells           [][]byte
}

func (r *storedRow) append(stored []byte) []byte {
	for _, n := range []int{r.file, r.row, r.line, len(r.cells)} {
		stored = binary.AppendUvarint(stored, uint64(n))
	}
	for _, c := range r.cells {
		stored = append(binary.AppendUvarint(stored, uint64(len(c))), c...)
	}
	return stored
}

// cut decodes the first of the stored rows and returns the others.
func (r *storedRow) cut(stored []byte) (rest []byte) {
	count := 0
	for _, n := range []*int{&r.file, &r.row, &r.line, &count} {
		number, size := binary.Uvarint(stored)
		*n, stored = int(number), stored[size:]
	}
	r.cells = r.cells[:0]
	for range count {
		length, size := binary.Uvarint(stored)
		end := size + int(length)
		r.cells, stored = append(r.cells, stored[size:end:end]), stored[end:]
	}
	return stored
}

// writeLists replaces the arrays of some columns by lists with commas, in buf.
func (r *storedRow) writeLists(buf []byte, columns []int) []byte {
	for _, i := range columns {
		if i < len(r.cells) {
			start := len(buf)
			buf, _ = text.AppendList(buf, r.cells[i])
			r.cells[i] = buf[start:]
		}
	}
	return buf
}

// add adds rows.
func (s *spill) add(stored []byte) (err error) {
	s.last = append(s.last, stored...)
	s.size += int64(len(stored))
	if len(s.last) < spillChunk {
		return nil
	}
	if s.file == nil {
		s.file, err = filesystem.TempFile(s.dir)
		if err != nil {
			return err
		}
	}
	_, err = s.file.Write(s.last)
	s.sizes, s.last = append(s.sizes, len(s.last)), s.last[:0]
	return err
}

// rows yields all rows. nil disables progress. Nothing follows an error.
func (s *spill) rows(ctx context.Context, progress func(read, size int64)) iter.Seq2[*storedRow, error] {
	return func(yield func(*storedRow, error) bool) {
		in := io.NewSectionReader(s.file, 0, s.size)
		var buf []byte
		var lists []byte
		var row storedRow
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
			read += int64(len(chunk))
			if progress != nil {
				progress(read, s.size)
			}
			for len(chunk) > 0 {
				chunk = row.cut(chunk)
				lists = row.writeLists(lists[:0], s.lists)
				if ctx.Err() != nil {
					yield(nil, context.Cause(ctx))
					return
				}
				if !yield(&row, nil) {
					return
				}
			}
		}
	}
}

func (s *spill) Close() error {
	s.last = nil
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
