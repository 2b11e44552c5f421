// Package parquetrows reads Parquet files.
package parquetrows

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// Format returns the Parquet format.
func Format() rows.Format {
	return rows.Format{
		Name:       "parquet",
		Extensions: []string{".parquet", ".pq"},
		Matches: func(head []byte) bool {
			return bytes.HasPrefix(head, []byte("PAR1")) || bytes.HasPrefix(head, []byte("PARE"))
		},
		Open: func(ctx context.Context, f rows.File, _ rows.Options, b *rows.Budget) (rows.Rows, error) {
			src, size, err := f.Random()
			if err != nil {
				return nil, err
			}
			r, err := newReader(ctx, src, size, b)
			if err != nil {
				return nil, err
			}
			return r, nil
		},
	}
}

// reader implements rows.Rows. It reads one row group after the other and holds one page of each column.
type reader struct {
	schema
	ctx     context.Context // of Open
	src     io.ReaderAt
	size    int64
	budget  *rows.Budget
	groups  []rowGroup
	listed  []rows.Column
	unpack  *decompressor
	largest int64 // bytes of memory that the pages of one column may need
	group   int   // number of the next row group, from 0
	left    int64 // rows of the current one that have not been read
	row     int64 // number of the row read last, from 1
	parts   []part
	spill   *spillFile
	buf     []byte // the values of the row
	ends    []int  // of each value
	cells   [][]byte
}

// part yields the cells of some adjacent columns, row by row.
type part interface {
	// appendRow appends the cells of the next row to buf, and the end of each to ends.
	appendRow(buf []byte, ends []int) ([]byte, []int, error)
	// done is called after the last row of a row group and fails if values remain.
	done() error
}

// newReader reads the metadata of a file. It also decides for each column of bytes without an annotation whether it holds
// text, which requires a pass over its values.
func newReader(ctx context.Context, src io.ReaderAt, size int64, b *rows.Budget) (*reader, error) {
	footer, err := readFooter(src, size)
	if err != nil {
		return nil, err
	}
	r := &reader{ctx: ctx, src: src, size: size, budget: b, groups: footer.RowGroups.Slice, largest: maxPage}
	if r.schema, err = readSchema(footer.Schema.Slice, b); err != nil {
		return nil, err
	}
	if err := footer.check(len(r.leaves)); err != nil {
		return nil, err
	}
	if r.unpack, err = newDecompressor(); err != nil {
		return nil, err
	}
	for _, n := range r.leaves {
		if n.leaf.kind != leafBytes {
			continue
		}
		if n.leaf.kind, err = r.kindOfBytes(n.first); err != nil {
			r.unpack.zstd.Close()
			return nil, r.locate(err, "column %q", rows.Clip(n.name))
		}
	}
	r.listed = make([]rows.Column, len(r.columns))
	r.setTypes()
	return r, nil
}

// setTypes declares the columns. A list becomes text if one of its cells had to be written as JSON.
func (r *reader) setTypes() {
	for i, n := range r.columns {
		r.listed[i] = rows.Column{Name: n.column, Type: columnType(n)}
	}
}

// Columns implements rows.Rows.
func (r *reader) Columns() []rows.Column { return r.listed }

// columnType returns the type that a file declares for a column. Bytes without an annotation declare none.
func columnType(n *node) herb.Type {
	switch {
	case n.scalarElement() != nil && !n.asJSON:
		return herb.TypeList
	case n.shape != shapeLeaf || n.repeated:
		return herb.TypeText
	case n.leaf.isNumber():
		return herb.TypeNumber
	case n.leaf.isUnannotated:
		return ""
	}
	switch n.leaf.kind {
	case leafDate:
		return herb.TypeDate
	case leafTimestamp, leafInt96:
		return herb.TypeDateTime
	case leafBoolean:
		return herb.TypeBoolean
	default:
		return herb.TypeText
	}
}

func (r *reader) chunk(group, leaf int) *columnMetadata {
	return &r.groups[group].Columns.Slice[leaf].Metadata
}

// Options implements rows.Rows. Nothing about a Parquet file is optional.
func (r *reader) Options() rows.Options { return rows.Options{} }

// Position implements rows.Rows.
func (r *reader) Position() string { return fmt.Sprintf("row %d", r.row) }

// Notes implements rows.Rows.
func (r *reader) Notes() []string { return nil }

// Next implements rows.Rows.
func (r *reader) Next() (cells [][]byte, err error) {
	for r.left == 0 {
		if err := r.nextGroup(); err != nil {
			return nil, err
		}
	}
	r.left--
	r.row++
	r.buf, r.ends = r.buf[:0], r.ends[:0]
	for _, p := range r.parts {
		if r.buf, r.ends, err = p.appendRow(r.buf, r.ends); err == nil {
			err = r.budget.Record(len(r.buf))
		}
		if err != nil {
			return nil, r.locate(err, "row %d, column %q", r.row, rows.Clip(r.columns[min(len(r.ends), len(r.columns)-1)].column))
		}
	}
	r.cells = rows.SplitCells(r.cells[:0], r.buf, r.ends)
	return r.cells, nil
}

// nextGroup opens the next row group. Columns whose pages do not fit into memory together are written to a temporary
// file, except the last ones.
func (r *reader) nextGroup() error {
	for _, p := range r.parts {
		if err := p.done(); err != nil {
			return r.locate(err, "row group %d", r.group)
		}
	}
	r.parts = nil
	if r.group == len(r.groups) {
		r.setTypes()
		return io.EOF
	}
	group := r.group
	r.group++
	if r.left = r.groups[group].NumRows; r.left == 0 {
		return nil
	}
	start, sum := 0, int64(0) // columns that are read together, and the memory that they need
	for i, n := range r.columns {
		need := int64(0)
		for leaf := n.first; leaf < n.first+n.leaves; leaf++ {
			m, err := r.pageMemory(group, leaf)
			if err != nil {
				return r.locate(err, "row group %d, column %q", group+1, rows.Clip(n.column))
			}
			need += m
		}
		if i > start && sum+need > pageBudget {
			if err := r.spillColumns(group, r.columns[start:i]); err != nil {
				return err
			}
			start, sum = i, 0
		}
		sum += need
	}
	last, err := r.newChunkColumns(group, r.columns[start:])
	r.parts = append(r.parts, last)
	return err
}

// spillColumns writes the cells of some columns of a row group to the spill file. They are charged to the budget, because
// nobody else sees them before the first row of the group.
func (r *reader) spillColumns(group int, columns []*node) (err error) {
	chunks, err := r.newChunkColumns(group, columns)
	if err != nil {
		return err
	}
	if r.spill == nil {
		if r.spill, err = newSpillFile(r.budget); err != nil {
			return err
		}
	}
	if len(r.parts) == 0 {
		if err := r.spill.reset(); err != nil {
			return err
		}
	}
	start := r.spill.size
	var buf []byte
	var ends []int
	var cells [][]byte
	for i := range r.left {
		if buf, ends, err = chunks.appendRow(buf[:0], ends[:0]); err != nil {
			return r.locate(err, "row %d, column %q", r.row+i+1, rows.Clip(columns[min(len(ends), len(columns)-1)].column))
		}
		cells = rows.SplitCells(cells[:0], buf, ends)
		if err := errors.Join(r.budget.Row(cells), r.spill.write(cells)); err != nil {
			return err
		}
	}
	if err := chunks.done(); err != nil {
		return r.locate(err, "row group %d", r.group)
	}
	p, err := r.spill.read(start, len(columns))
	r.parts = append(r.parts, p)
	return err
}

// Close implements rows.Rows.
func (r *reader) Close() error {
	r.parts = nil
	r.unpack.zstd.Close()
	if r.spill == nil {
		return nil
	}
	return r.spill.file.Close()
}

// locate adds the place in the file to an error. Errors of the disk and of the context are not the fault of the file.
func (r *reader) locate(err error, where string, args ...any) error {
	where = fmt.Sprintf(where, args...)
	if ended := context.Cause(r.ctx); ended != nil {
		return ended
	}
	if e, ok := errors.AsType[*readError](err); ok {
		return e.error
	}
	if err == errNotText {
		return herb.Invalidf("%s: %v; write it as UTF-8, or as bytes without a type", where, err)
	}
	return rows.Damaged(err, where)
}

// kindOfBytes decides whether a leaf of unannotated bytes holds text.
func (r *reader) kindOfBytes(leaf int) (leafKind, error) {
	for g, group := range r.groups {
		if group.NumRows == 0 {
			continue
		}
		if _, err := r.pageMemory(g, leaf); err != nil {
			return leafBytes, err
		}
		c, err := r.newCursor(g, leaf)
		for err == nil {
			var v value
			if v, err = c.next(); err == nil && !isPrintable(v.data) {
				return leafBinary, nil
			}
			if err == nil {
				err = r.budget.Row(nil) // a few bytes can claim any number of values
			}
		}
		if err != io.EOF {
			return leafBytes, err
		}
	}
	return leafText, nil
}

// isPrintable reports whether bytes are UTF-8 without control characters other than line ends and tabs.
func isPrintable(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7F {
			return false
		}
	}
	return utf8.Valid(b)
}
