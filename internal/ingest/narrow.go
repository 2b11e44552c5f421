package ingest

import (
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/text"
)

// narrower applies the settings of a source to its rows: it excludes rows that do not meet the conditions, and empties
// cells whose values are declared missing. Every cell that it removes is counted, so that the certificate can prove that
// nothing else was removed.
type narrower struct {
	include []condition
	missing []map[string]bool // values of each column; nil: none

	cells         [][]byte
	excludedCells int
	missingCells  int
	removed       []herb.ColumnCells // with the numbers of source rows
	row           int
}

// condition is an Include with its column.
type condition struct {
	column int
	values map[string]bool
}

// newNarrower resolves the settings of a source against its columns. It returns nil if they narrow nothing.
func newNarrower(src Source, columns []string, keyed bool) (*narrower, error) {
	if !src.Narrows() || len(columns) == 0 {
		return nil, nil
	}
	n := &narrower{missing: make([]map[string]bool, len(columns)), removed: make([]herb.ColumnCells, len(columns))}
	common := setOf(src.Missing)
	for i := range n.missing {
		n.missing[i] = common
	}
	pick, _, err := match(src, columns, keyed)
	if err != nil {
		return nil, err
	}
	for k, f := range src.Fields {
		if pick[k] >= 0 && f.Missing != nil {
			n.missing[pick[k]] = setOf(f.Missing)
		}
	}
	for _, c := range src.Include {
		at := slices.Index(columns, c.Column)
		for k, f := range src.Fields { // it may have the name of its field
			if at < 0 && f.Name == c.Column {
				at = pick[k]
			}
		}
		if at < 0 {
			name := rows.Clip(c.Column)
			return nil, herb.Invalidf("include: there is no column %q%s columns: %s", name, text.Suggestion(name, columns), rows.JoinNames(columns))
		}
		n.include = append(n.include, condition{at, setOf(c.Values)})
	}
	return n, nil
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

// apply narrows the next row of the source; nil keeps it. ok is false if the row is excluded.
func (n *narrower) apply(cells [][]byte) (narrowed [][]byte, ok bool) {
	if n == nil {
		return cells, true
	}
	row := n.row
	n.row++
	if !n.includes(cells) {
		for i, c := range cells {
			if len(c) > 0 {
				n.excludedCells++
				n.removed[i].Add(row, c)
			}
		}
		return nil, false
	}
	n.cells = append(n.cells[:0], cells...)
	for i, c := range n.cells {
		if len(c) > 0 && n.missing[i][string(c)] {
			n.cells[i] = nil
			n.missingCells++
			n.removed[i].Add(row, c)
		}
	}
	return n.cells, true
}

// includes reports whether a row meets all conditions. A value that is declared missing matches as itself and as empty.
func (n *narrower) includes(cells [][]byte) bool {
	for _, c := range n.include {
		var value []byte
		if c.column < len(cells) {
			value = cells[c.column]
		}
		if !c.values[string(value)] && !(n.missing[c.column][string(value)] && c.values[""]) {
			return false
		}
	}
	return true
}
