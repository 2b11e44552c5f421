// Package parquet reads Parquet files.
package parquet

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/klauspost/compress/zstd"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// Format returns the Parquet format.
func Format() rows.Format {
	return rows.Format{
		Name:       "parquet",
		Extensions: []string{".parquet", ".pq"},
		Lists:      true,
		Matches: func(head []byte) bool {
			return bytes.HasPrefix(head, []byte("PAR1")) || bytes.HasPrefix(head, []byte("PARE"))
		},
		Open: func(_ context.Context, f rows.File, _ rows.Options, b *rows.Budget) (rows.Rows, error) {
			in, err := f.Random()
			if err != nil {
				return nil, err
			}
			return newReader(in, b)
		},
	}
}

// readBuffers is the number of bytes of the buffers through which the columns of a row group are
// read.
const readBuffers = 16 << 20

// reader implements rows.Rows. It reads one row group after the other: column by column into a
// temporary file, so that only one page is in memory, and then row by row from there.
type reader struct {
	*schema
	in *io.SectionReader

	geometries []*geometryColumn

	groups  []rowGroup
	zstd    *zstd.Decoder
	group   int   // number of the next row group, from 0
	left    int64 // rows of the current one that have not been read
	row     int64 // number of the row read last, from 1
	spill   *os.File
	out     *bufio.Writer   // to spill
	spilled []*bufio.Reader // the cells of each column in spill
	buf     []byte          // the values of the row
	ends    []int           // of each value
	cells   [][]byte
}

func newReader(in *io.SectionReader, b *rows.Budget) (rows.Rows, error) {
	footer, err := readFooter(in)
	if err != nil {
		return nil, err
	}
	r := &reader{in: in, groups: footer.RowGroups, out: bufio.NewWriterSize(nil, 64<<10)}
	r.schema, err = readSchema(footer.Schema, b)
	if err != nil {
		return nil, err
	}
	if err := footer.check(len(r.leaves)); err != nil {
		return nil, err
	}
	r.declareGeometries(footer)
	for range r.columns {
		r.spilled = append(r.spilled, bufio.NewReaderSize(nil, min(readBuffers/len(r.columns), 32<<10)))
	}
	r.zstd, err = newZstd()
	if err != nil {
		return nil, err
	}
	r.spill, err = b.TempFile()
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *reader) Columns() []rows.Column  { return r.listed }
func (r *reader) Options() rows.Options   { return rows.Options{} }
func (r *reader) Layout() herb.Layout     { return herb.Layout{} }
func (r *reader) Position() rows.Position { return rows.Position{Row: int(r.row)} }

func (r *reader) Next() ([][]byte, error) {
	for r.left == 0 {
		if err := r.nextGroup(); err != nil {
			return nil, err
		}
	}
	r.left--
	r.row++
	r.buf, r.ends = r.buf[:0], r.ends[:0]
	for _, column := range r.spilled {
		n, err := binary.ReadUvarint(column)
		if err != nil {
			return nil, err
		}
		start := len(r.buf)
		r.buf = slices.Grow(r.buf, int(n))[:start+int(n)]
		if _, err := io.ReadFull(column, r.buf[start:]); err != nil {
			return nil, err
		}
		r.ends = append(r.ends, len(r.buf))
	}
	r.cells = rows.SplitCells(r.cells[:0], r.buf, r.ends)
	return r.cells, nil
}

// nextGroup writes the columns of the next row group to the temporary file, one after the other.
func (r *reader) nextGroup() error {
	if r.group == len(r.groups) {
		return io.EOF
	}
	r.left = r.groups[r.group].NumRows
	if r.left > 0 {
		budget := r.budget.Trial()
		end := int64(0)
		for i := range r.columns {
			start := end
			var err error
			end, err = r.spillColumn(i, budget, start)
			if err != nil {
				return err
			}
			r.spilled[i].Reset(io.NewSectionReader(r.spill, start, end-start))
		}
	}
	r.group++
	return nil
}

// spillColumn writes the cells of a column, each after its length, to an offset of the temporary
// file and returns the end.
func (r *reader) spillColumn(column int, budget *rows.Budget, at int64) (end int64, err error) {
	c := r.newColumnReader(r.group, r.columns[column])
	locate := func(err error, row int64) error {
		return r.budget.Locate(err, "row %d, column %q", row, rows.Clip(c.column.name))
	}
	r.out.Reset(io.NewOffsetWriter(r.spill, at))
	var cell []byte
	for row := r.row + 1; row <= r.row+r.left; row++ {
		cell, err = c.appendCell(cell[:0])
		if err != nil {
			return at, locate(err, row)
		}
		if err := budget.Cell(len(cell)); err != nil {
			return at, err
		}
		length := binary.AppendUvarint(r.out.AvailableBuffer(), uint64(len(cell)))
		r.out.Write(length) // Flush returns the first error of a write
		r.out.Write(cell)
		at += int64(len(length) + len(cell))
	}
	if err := c.finish(); err != nil {
		return at, locate(err, r.row+r.left)
	}
	return at, r.out.Flush()
}

func (r *reader) Close() error {
	r.zstd.Close()
	return r.spill.Close()
}
