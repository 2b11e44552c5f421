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
	dir   string // of the temporary file; empty: that of the system
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

// chunks yields all chunks, each valid until the next one. progress is called with the bytes read and in total; nil
// disables it.
func (s *spill) chunks(ctx context.Context, progress func(read, size int64)) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in := io.NewSectionReader(s.file, 0, s.size)
		var buf []byte
		read := int64(0)
		for i := range len(s.sizes) + 1 {
			chunk, err := s.last, context.Cause(ctx)
			if err == nil && i < len(s.sizes) {
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
			if !yield(chunk, nil) {
				return
			}
		}
	}
}

// cutRow appends the cells of the first row of a chunk and returns them and the rest of the chunk.
func cutRow(cells [][]byte, chunk []byte) (row [][]byte, rest []byte) {
	count, size := binary.Uvarint(chunk)
	chunk = chunk[size:]
	for range count {
		length, size := binary.Uvarint(chunk)
		end := size + int(length)
		cells, chunk = append(cells, chunk[size:end:end]), chunk[end:]
	}
	return cells, chunk
}

// Close releases the temporary file.
func (s *spill) Close() error {
	s.last = nil
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
