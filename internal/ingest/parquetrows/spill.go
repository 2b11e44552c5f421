package parquetrows

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"slices"

	"herbarium/internal/ingest/rows"
)

// spilledColumns implements part. It reads columns for whose pages there is no room in memory from a temporary file.
type spilledColumns struct {
	in    *bufio.Reader
	width int // cells per row
}

// spillColumns writes the cells of some columns of a row group to the temporary file, each after its length. They are
// charged to the budget, because nobody else sees them before the first row of the group.
func (r *reader) spillColumns(group int, columns []*node) (*spilledColumns, error) {
	c, err := r.newChunkColumns(group, columns)
	if err != nil {
		return nil, err
	}
	if r.spill == nil {
		if r.spill, err = r.budget.TempFile(); err != nil {
			return nil, err
		}
	}
	start, err := r.spill.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriterSize(r.spill, 256<<10)
	var buf []byte
	var ends []int
	var cells [][]byte
	for i := range r.left {
		if buf, ends, err = c.appendRow(buf[:0], ends[:0]); err != nil {
			return nil, r.in.Locate(err, "row %d, column %q", r.row+i+1, rows.Clip(columns[min(len(ends), len(columns)-1)].column))
		}
		cells = rows.SplitCells(cells[:0], buf, ends)
		if err := r.budget.Row(cells); err != nil {
			return nil, err
		}
		for _, cell := range cells { // Flush returns the first error of a write
			out.Write(binary.AppendUvarint(out.AvailableBuffer(), uint64(len(cell))))
			out.Write(cell)
		}
	}
	if err := c.done(); err != nil {
		return nil, r.in.Locate(err, "row group %d", group+1)
	}
	in := io.NewSectionReader(r.spill, start, math.MaxInt64-start)
	return &spilledColumns{bufio.NewReaderSize(in, 32<<10), len(columns)}, out.Flush()
}

func (s *spilledColumns) appendRow(buf []byte, ends []int) ([]byte, []int, error) {
	for range s.width {
		n, err := binary.ReadUvarint(s.in)
		if err != nil {
			return buf, ends, err
		}
		start := len(buf)
		buf = slices.Grow(buf, int(n))[:start+int(n)]
		if _, err := io.ReadFull(s.in, buf[start:]); err != nil {
			return buf, ends, err
		}
		ends = append(ends, len(buf))
	}
	return buf, ends, nil
}

func (s *spilledColumns) done() error { return nil }
