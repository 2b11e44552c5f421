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
	ctx     context.Context // of Open
	src     io.ReaderAt
	size    int64
	budget  *rows.Budget
	meta    *fileMetadata
	leaves  []*node // in the order of the column chunks of a row group
	table   []column
	columns []rows.Column
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
func newReader(ctx context.Context, src io.ReaderAt, size int64, b *rows.Budget) (r *reader, err error) {
	r = &reader{ctx: ctx, src: src, size: size, budget: b, largest: maxPage}
	if r.meta, err = readFooter(src, size); err != nil {
		return nil, err
	}
	fields, err := readSchema(r.meta.Schema.Slice, b)
	if err != nil {
		return nil, err
	}
	r.leaves, r.table = appendLeaves(nil, fields), flattenFields(nil, fields, "")
	if err := r.meta.checkLeaves(len(r.leaves)); err != nil {
		return nil, err
	}
	if err := b.Columns(len(r.leaves)); err != nil {
		return nil, err
	}
	if r.unpack, err = newDecompressor(); err != nil {
		return nil, err
	}
	for _, c := range r.table {
		if err := r.classifyBytes(c.node); err != nil {
			r.unpack.zstd.Close()
			return nil, r.locate(err, "column %q", rows.Clip(c.name))
		}
		r.columns = append(r.columns, rows.Column{Name: c.name, Type: columnType(c.node)})
	}
	return r, nil
}

// Columns implements rows.Rows. A list becomes text if one of its cells had to be written as JSON.
func (r *reader) Columns() []rows.Column { return r.columns }

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
	return &r.meta.RowGroups.Slice[group].Columns.Slice[leaf].Metadata
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
			return nil, r.locate(err, "row %d, column %q", r.row, rows.Clip(r.table[min(len(r.ends), len(r.table)-1)].name))
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
	if r.group == len(r.meta.RowGroups.Slice) {
		for i, c := range r.table {
			r.columns[i].Type = columnType(c.node)
		}
		return io.EOF
	}
	group := r.group
	r.group++
	if r.left = r.meta.RowGroups.Slice[group].NumRows; r.left == 0 {
		return nil
	}
	sets, err := r.divide(group)
	if err != nil {
		return err
	}
	for i, set := range sets {
		var p part
		columns, err := r.newChunkColumns(group, set)
		if p = columns; err == nil && i < len(sets)-1 {
			p, err = r.spillColumns(columns)
		}
		if err != nil {
			return err
		}
		r.parts = append(r.parts, p)
	}
	return nil
}

// divide groups adjacent columns so that the pages of a set fit into memory together.
func (r *reader) divide(group int) ([][]column, error) {
	var sets [][]column
	start, sum := 0, int64(0)
	for i, c := range r.table {
		need := int64(0)
		for leaf := c.node.first; leaf < c.node.first+c.node.leaves; leaf++ {
			m, err := r.pageMemory(group, leaf)
			if err != nil {
				return nil, r.locate(err, "row group %d, column %q", group+1, rows.Clip(c.name))
			}
			need += m
		}
		if i > start && sum+need > pageBudget {
			sets = append(sets, r.table[start:i])
			start, sum = i, 0
		}
		sum += need
	}
	return append(sets, r.table[start:]), nil
}

// spillColumns writes the cells of some columns of a row group to the spill file. They are charged to the budget, because
// nobody else sees them before the first row of the group.
func (r *reader) spillColumns(columns *chunkColumns) (part, error) {
	if r.spill == nil {
		s, err := newSpillFile(r.budget)
		if err != nil {
			return nil, err
		}
		r.spill = s
	}
	if len(r.parts) == 0 {
		if err := r.spill.reset(); err != nil {
			return nil, err
		}
	}
	start := r.spill.size
	var buf []byte
	var ends []int
	var cells [][]byte
	for i := range r.left {
		var err error
		if buf, ends, err = columns.appendRow(buf[:0], ends[:0]); err != nil {
			return nil, r.locate(err, "row %d, column %q", r.row+i+1, rows.Clip(columns.set[min(len(ends), len(columns.set)-1)].name))
		}
		cells = rows.SplitCells(cells[:0], buf, ends)
		if err := errors.Join(r.budget.Row(cells), r.spill.write(cells)); err != nil {
			return nil, err
		}
	}
	if err := columns.done(); err != nil {
		return nil, r.locate(err, "row group %d", r.group)
	}
	return r.spill.read(start, len(columns.set))
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

// classifyBytes decides for each leaf of unannotated bytes below a node whether it holds text.
func (r *reader) classifyBytes(n *node) error {
	for _, c := range n.children {
		if err := r.classifyBytes(c); err != nil {
			return err
		}
	}
	if n.shape != shapeLeaf || n.leaf.kind != leafBytes {
		return nil
	}
	n.leaf.kind = leafText
	for g, group := range r.meta.RowGroups.Slice {
		if group.NumRows == 0 {
			continue
		}
		if _, err := r.pageMemory(g, n.first); err != nil {
			return err
		}
		text, err := r.holdsText(g, n.first)
		if err != nil {
			return err
		}
		if !text {
			n.leaf.kind = leafBinary
			break
		}
	}
	return nil
}

// holdsText reports whether all values of a column chunk are printable text.
func (r *reader) holdsText(group, leaf int) (bool, error) {
	c, err := r.newCursor(group, leaf)
	if err != nil {
		return false, err
	}
	for {
		v, err := c.next()
		switch {
		case err == io.EOF:
			return true, nil
		case err != nil:
			return false, err
		case !v.isNull() && !isPrintable(v.data):
			return false, nil
		}
		if err := r.budget.Row(nil); err != nil { // a few bytes can claim any number of values
			return false, err
		}
	}
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
