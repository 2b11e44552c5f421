package table

import (
	"regexp"

	"herbarium/internal/herb"
)

// tagPattern matches a tag of the Humanitarian Exchange Language (HXL), such as "#adm1+name".
var tagPattern = regexp.MustCompile(`^#[A-Za-z][A-Za-z0-9_]*( *\+[A-Za-z][A-Za-z0-9_]*)*$`)

// HasTags reports whether a row has nothing but HXL tags, at least two, or one in a table of one
// column. Such a row describes the columns that the row above it names.
func (r Row) HasTags() bool {
	n := 0
	for c := range r.Cells {
		switch cell := r.cell(c); {
		case len(cell) == 0:
		case !tagPattern.Match(cell):
			return false
		default:
			n++
		}
	}
	return n > 1 || n == 1 && len(r.Cells) == 1
}

// describes reports whether a row describes the columns that rows above it name.
func (e *evidence) describes(row int) bool {
	return e.Rows[row].HasTags() || e.units[row]
}

// mayName reports whether the rows from first to end may be the header. HXL tags name the columns
// only if no row above them does, units never do.
func (e *evidence) mayName(first, end int) bool {
	for i := first; i < end; i++ {
		if e.Rows[i].HasTags() && (end-first > 1 || i > 0 && 2*e.filled[i-1] > e.filled[i]) {
			return false
		}
	}
	return !e.units[end-1]
}

// Descriptions returns what the row below the header says about the columns, and what it has: HXL
// tags or units. The reason is empty if the row is a record.
func (l Header) Descriptions(s Sample) (texts []string, reason string) {
	switch {
	case !l.Exists() || l.End >= len(s.Rows):
		return nil, ""
	case s.Rows[l.End].HasTags():
		reason = "HXL tags"
	case l.Units:
		reason = herb.Units
	default:
		return nil, ""
	}
	for c := range s.Rows[l.End].Cells {
		texts = append(texts, string(s.Rows[l.End].cell(c)))
	}
	return texts, reason
}
