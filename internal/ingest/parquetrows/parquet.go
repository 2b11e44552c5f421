// Package parquetrows reads Parquet files.
package parquetrows

import (
	"bytes"
	"context"
	"io"
	"os"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

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
			in, err := rows.OpenInput(ctx, f)
			if err != nil {
				return nil, err
			}
			r, err := newReader(in, b)
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
	in      *rows.Input
	budget  *rows.Budget
	groups  []rowGroup
	listed  []rows.Column
	zstd    *zstd.Decoder
	largest int64 // bytes of memory that the pages of one column may need
	group   int   // number of the next row group, from 0
	left    int64 // rows of the current one that have not been read
	row     int64 // number of the row read last, from 1
	parts   []part
	spill   *os.File // of columns that do not fit into memory; nil if there are none
	buf     []byte   // the values of the row
	ends    []int    // of each value
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
func newReader(in *rows.Input, b *rows.Budget) (*reader, error) {
	footer, err := readFooter(in)
	if err != nil {
		return nil, err
	}
	r := &reader{in: in, budget: b, groups: footer.RowGroups.Slice, largest: maxPage}
	if r.schema, err = readSchema(footer.Schema.Slice, b); err != nil {
		return nil, err
	}
	if err := footer.check(len(r.leaves)); err != nil {
		return nil, err
	}
	if r.zstd, err = newZstd(); err != nil {
		return nil, err
	}
	for _, n := range r.leaves {
		if n.leaf.render != nil {
			continue
		}
		isText, err := r.holdsText(n.first)
		if err != nil {
			r.zstd.Close()
			return nil, r.in.Locate(err, "column %q", rows.Clip(n.name))
		}
		if n.leaf.render = appendBase64; isText {
			n.leaf.render = appendUTF8
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

// columnType returns the type that a file declares for a column.
func columnType(n *node) herb.Type {
	switch {
	case n.scalarElement() != nil && !n.asJSON:
		return herb.TypeList
	case n.shape != shapeLeaf || n.repeated:
		return herb.TypeText
	default:
		return n.leaf.declared
	}
}

func (r *reader) chunk(group, leaf int) *columnMetadata {
	return &r.groups[group].Columns.Slice[leaf].Metadata
}

// Options implements rows.Rows. Nothing about a Parquet file is optional.
func (r *reader) Options() rows.Options { return rows.Options{} }

// Position implements rows.Rows.
func (r *reader) Position() rows.Position { return rows.Position{Row: int(r.row)} }

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
		if r.buf, r.ends, err = p.appendRow(r.buf, r.ends); err != nil {
			return nil, r.in.Locate(err, "row %d, column %q", r.row, rows.Clip(r.columns[min(len(r.ends), len(r.columns)-1)].column))
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
			return r.in.Locate(err, "row group %d", r.group)
		}
	}
	r.parts = nil
	if r.spill != nil {
		if err := r.spill.Truncate(0); err != nil {
			return err
		}
	}
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
				return r.in.Locate(err, "row group %d, column %q", group+1, rows.Clip(n.column))
			}
			need += m
		}
		if i > start && sum+need > pageBudget {
			spilled, err := r.spillColumns(group, r.columns[start:i])
			if err != nil {
				return err
			}
			r.parts = append(r.parts, spilled)
			start, sum = i, 0
		}
		sum += need
	}
	last, err := r.newChunkColumns(group, r.columns[start:])
	r.parts = append(r.parts, last)
	return err
}

// Close implements rows.Rows.
func (r *reader) Close() error {
	r.parts = nil
	r.zstd.Close()
	if r.spill == nil {
		return nil
	}
	return r.spill.Close()
}

// holdsText reports whether all values of a leaf of bytes are printable text.
func (r *reader) holdsText(leaf int) (bool, error) {
	for g, group := range r.groups {
		if group.NumRows == 0 {
			continue
		}
		if _, err := r.pageMemory(g, leaf); err != nil {
			return false, err
		}
		c, err := r.newCursor(g, leaf)
		for err == nil {
			var data []byte
			if data, err = c.next(); err == nil && !isPrintable(data) {
				return false, nil
			}
			if err == nil {
				err = r.budget.Row(nil) // a few bytes can claim any number of values
			}
		}
		if err != io.EOF {
			return false, err
		}
	}
	return true, nil
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
