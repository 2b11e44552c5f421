package layout

import "regexp"

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

// mayName reports whether the rows from first to end may be the header. HXL tags name the columns
// only if no row above them does.
func (e *evidence) mayName(first, end int) bool {
	for i := first; i < end; i++ {
		if e.Rows[i].HasTags() && (end-first > 1 || i > 0 && 2*e.filled[i-1] > e.filled[i]) {
			return false
		}
	}
	return true
}

// Tags returns the HXL tags below the header by column, nil if there are none.
func (l Layout) Tags(s Sample) (tags []string) {
	if !l.HasHeader() || l.End >= len(s.Rows) || !s.Rows[l.End].HasTags() {
		return nil
	}
	for c := range s.Rows[l.End].Cells {
		tags = append(tags, string(s.Rows[l.End].cell(c)))
	}
	return tags
}
