package xlsx

import (
	"io"
	"slices"

	"herbarium/internal/ingest/layout"
)

// The rows at the start of a sheet from which the header is detected.
const (
	sampleRows  = 50
	sampleBytes = 1 << 20
	belowHeader = 20 // rows that a header is compared with
	// maxGroupRows is the number of rows above a header that may have several values.
	maxGroupRows = 3
)

// sample reads the first rows of a sheet.
func sample(next func() (layout.Row, error)) ([]layout.Row, error) {
	var sampled []layout.Row
	size := 0
	for len(sampled) < sampleRows && size < sampleBytes {
		r, err := next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		for _, cell := range r.Cells {
			size += len(cell)
		}
		sampled = append(sampled, r.Clone())
	}
	return sampled, nil
}

// isTable reports whether rows at the start of a sheet are a table: most of them have several values, or there is one
// column of values that are not text. Notes and titles are text in one column.
func isTable(sampled []layout.Row) bool {
	wide, other := 0, 0
	for i, r := range sampled {
		if r.Filled() > 1 {
			wide++
		} else if i > 0 && r.Kinds[len(r.Kinds)-1] != layout.Text {
			other++
		}
	}
	return wide >= 2 && (wide >= 5 || 2*wide >= len(sampled)) || len(sampled) > 2 && 2*other > len(sampled)
}

// detectHeader returns the index of the header among the first rows of a sheet. It is the first row that is mostly filled,
// with distinct texts, above rows of about the same width, and below nothing but titles. If no row has distinct texts, one
// that differs in kind from the values below it is accepted. Without any evidence the header is the first row. It is -1 if
// the first row consists of values like those below it.
func detectHeader(sampled []layout.Row) int {
	if isRecord(sampled) {
		return -1
	}
	for _, strict := range []bool{true, false} {
		for i := range sampled {
			if isHeader(sampled, i, strict) {
				return i
			}
		}
	}
	return 0
}

// isRecord reports whether the first row is a record: no value is text, not all are years, and every value has the kind of
// some value below it. A table of row labels has an empty corner, so its first row is not a record.
func isRecord(sampled []layout.Row) bool {
	first, years := sampled[0], 0
	for c, k := range first.Kinds {
		below := func(r layout.Row) bool { return c < len(r.Kinds) && r.Kinds[c] == k }
		if k&(layout.Text|layout.Other|layout.Missing) != 0 || !slices.ContainsFunc(sampled[1:], below) {
			return false
		}
		if k == layout.Number && layout.IsYear(first.Cells[c]) {
			years++
		}
	}
	return years < first.Filled()
}

func isHeader(sampled []layout.Row, i int, strict bool) bool {
	header, below := sampled[i], sampled[i+1:min(i+1+belowHeader, len(sampled))]
	filled := header.Filled()
	if len(below) == 0 || filled < 2 || 5*filled < 3*medianFilled(below) {
		return false
	}
	names, distinct := 0, map[string]bool{}
	for c, k := range header.Kinds {
		if k == layout.Text || k == layout.Number && layout.IsYear(header.Cells[c]) {
			names++
			distinct[string(header.Cells[c])] = true
		}
	}
	contrast := hasContrast(header, below)
	if strict && (names < filled || len(distinct) < names) || !strict && (2*names < filled || !contrast) {
		return false
	}
	groups := 0 // rows that name groups of columns, or several facts
	for j, above := range sampled[:i] {
		n := above.Filled()
		isTitle := n == 1 && (filled > 2 || contrast || sampled[j+1].Line > above.Line+1)
		if !isTitle {
			groups++
		}
		if !isTitle && !(contrast && 2*n <= filled && groups <= maxGroupRows) {
			return false
		}
	}
	return true
}

// hasContrast reports whether some column has a text in the header and mostly values of other kinds below.
func hasContrast(header layout.Row, below []layout.Row) bool {
	for c, k := range header.Kinds {
		texts, others := 0, 0
		for _, r := range below {
			if c < len(r.Kinds) && r.Kinds[c]&layout.Text != 0 {
				texts++
			} else if c < len(r.Kinds) && r.Kinds[c] != 0 {
				others++
			}
		}
		if k == layout.Text && others > texts {
			return true
		}
	}
	return false
}

func medianFilled(sampled []layout.Row) int {
	var counts []int
	for _, r := range sampled {
		counts = append(counts, r.Filled())
	}
	slices.Sort(counts)
	return counts[len(counts)/2]
}
