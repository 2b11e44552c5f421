package ingest

import (
	"fmt"
	"io"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// narrowed returns rows as the settings of a source want them: without those that are not to be included, and empty
// where a value stands for a missing one. left counts what was left out so far.
func (s Source) narrowed(rows rowReader) (narrowed rowReader, left *leftOut) {
	perField := s.hasFieldMissing()
	if len(s.Include) == 0 && len(s.Missing) == 0 && !perField {
		return rows, &leftOut{}
	}
	n := &narrowReader{rowReader: rows, src: s, perField: perField, missing: setOf(s.Missing)}
	for _, c := range s.Include {
		n.include = append(n.include, condition{column: -1, name: c.Column, values: setOf(c.Values)})
	}
	return n, &n.left
}

// leftOut counts what settings leave out of a file.
type leftOut struct {
	rows    int // that are excluded
	cells   int // non-empty ones in those rows
	missing int // cells that are emptied in the others
}

// hasFieldMissing reports whether fields have missing values of their own.
func (s Source) hasFieldMissing() bool {
	return slices.ContainsFunc(s.Fields, func(f FieldSetting) bool { return f.Missing != nil })
}

// narrowsByColumn reports whether rows cannot be narrowed before all columns are known.
func (s Source) narrowsByColumn() bool { return len(s.Include) > 0 || s.hasFieldMissing() }

// narrowReader is a rowReader that leaves out rows and values.
type narrowReader struct {
	rowReader
	src      Source
	perField bool            // fields have missing values of their own
	missing  map[string]bool // those of columns that do not
	include  []condition

	columnsSeen int
	own         []map[string]bool // missing values of each column; nil: there are none
	cells       [][]byte
	rows        int
	left        leftOut
}

// condition is an Include whose column was found, or not yet: that of a JSON file may come with a later record.
type condition struct {
	column int
	name   string
	values map[string]bool
}

func setOf(values []string) map[string]bool {
	if len(values) == 0 {
		return nil
	}
	set := make(map[string]bool, len(values))
	for _, v := range values {
		set[v] = true
	}
	return set
}

// next implements rowReader.
func (n *narrowReader) next() ([][]byte, error) {
	for {
		cells, err := n.rowReader.next()
		if err == io.EOF {
			err = n.conclude()
		}
		if err != nil {
			return nil, err
		}
		n.rows++
		if columns := n.columns(); len(columns) != n.columnsSeen {
			if err := n.resolve(columns); err != nil {
				return nil, err
			}
		}
		if !n.includes(cells) {
			n.left.rows++
			n.left.cells += filledCells(cells)
			continue
		}
		n.cells = append(n.cells[:0], cells...)
		for i, c := range n.cells {
			if len(c) > 0 && i < len(n.own) && n.own[i][string(c)] {
				n.cells[i] = nil
				n.left.missing++
			}
		}
		return n.cells, nil
	}
}

// filledCells counts the cells of a row that are not empty.
func filledCells(cells [][]byte) int {
	n := 0
	for _, c := range cells {
		if len(c) > 0 {
			n++
		}
	}
	return n
}

// includes reports whether a row is to be included. A value that stands for a missing one is found as that and as empty.
func (n *narrowReader) includes(cells [][]byte) bool {
	for _, c := range n.include {
		var value []byte
		if c.column >= 0 && c.column < len(cells) {
			value = cells[c.column]
		}
		absent := c.column >= 0 && c.column < len(n.own) && n.own[c.column][string(value)]
		if !c.values[string(value)] && !(absent && c.values[""]) {
			return false
		}
	}
	return true
}

// resolve finds the columns that the settings are about, when there are new ones.
func (n *narrowReader) resolve(columns []string) error {
	first := n.columnsSeen
	n.columnsSeen = len(columns)
	for range columns[first:] {
		n.own = append(n.own, n.missing)
	}
	named := nameColumns(columns)
	if n.perField && n.src.Format == FormatJSON { // exact names: what comes with a later record must not change what was found
		position := make(map[string]int, len(columns)-first)
		for i, name := range named[first:] {
			position[name] = first + i
		}
		for _, f := range n.src.Fields {
			if i, ok := position[f.column()]; ok && f.Missing != nil {
				n.own[i] = setOf(f.Missing)
			}
		}
	} else if n.perField {
		pick, _, err := match(n.src, named)
		if err != nil {
			return err
		}
		for k, f := range n.src.Fields {
			if pick[k] >= 0 && f.Missing != nil {
				n.own[pick[k]] = setOf(f.Missing)
			}
		}
	}
	for i := range n.include {
		c := &n.include[i]
		if c.column < 0 {
			c.column = slices.Index(named, c.name)
		}
		if c.column < 0 { // it may be called by the name of its field
			for _, f := range n.src.Fields {
				if f.Name == c.name {
					c.column = slices.Index(named, f.column())
				}
			}
		}
	}
	return nil
}

// conclude refuses a condition on a column that no row had, which would leave nothing.
func (n *narrowReader) conclude() error {
	if n.rows == 0 {
		return io.EOF
	}
	for _, c := range n.include {
		if c.column >= 0 {
			continue
		}
		columns := nameColumns(n.columns())
		hint := ";"
		if near, ok := text.Closest(clip(c.name), columns); ok {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		return located(n.src.name(0), herb.Invalidf("include: there is no column %q%s columns: %s", clip(c.name), hint, enumerate(columns)))
	}
	return io.EOF
}
