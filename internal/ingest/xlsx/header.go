package xlsx

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/ingest/rows"
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
func sample(next func() (row, error)) ([]row, error) {
	var sampled []row
	size := 0
	for len(sampled) < sampleRows && size < sampleBytes {
		r, err := next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		c := row{r.line, make([][]byte, len(r.cells)), slices.Clone(r.kinds)}
		for i, cell := range r.cells {
			c.cells[i] = bytes.Clone(cell)
			size += len(cell)
		}
		sampled = append(sampled, c)
	}
	return sampled, nil
}

// filled returns the number of cells with a value.
func (r row) filled() (n int) {
	for _, k := range r.kinds {
		if k != 0 {
			n++
		}
	}
	return n
}

// isTable reports whether rows at the start of a sheet are a table: most of them have several values, or there is one
// column of values that are not text. Notes and titles are text in one column.
func isTable(sampled []row) bool {
	wide, other := 0, 0
	for i, r := range sampled {
		if r.filled() > 1 {
			wide++
		} else if i > 0 && r.kinds[len(r.kinds)-1] != kindText {
			other++
		}
	}
	return wide >= 2 && (wide >= 5 || 2*wide >= len(sampled)) || len(sampled) > 2 && 2*other > len(sampled)
}

// detectHeader returns the index of the header among the first rows of a sheet. It is the first row that is mostly filled,
// with distinct texts, above rows of about the same width, and below nothing but titles. If no row has distinct texts, one
// that differs in kind from the values below it is accepted. Without any evidence the header is the first row. It is -1 if
// the first row consists of values like those below it.
func detectHeader(sampled []row) int {
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
func isRecord(sampled []row) bool {
	first, years := sampled[0], 0
	for c, k := range first.kinds {
		below := func(r row) bool { return c < len(r.kinds) && r.kinds[c] == k }
		if k&(kindText|kindOther|kindMissing) != 0 || !slices.ContainsFunc(sampled[1:], below) {
			return false
		}
		if k == kindNumber && isYear(first.cells[c]) {
			years++
		}
	}
	return years < first.filled()
}

func isHeader(sampled []row, i int, strict bool) bool {
	header, below := sampled[i], sampled[i+1:min(i+1+belowHeader, len(sampled))]
	filled := header.filled()
	if len(below) == 0 || filled < 2 || 5*filled < 3*medianFilled(below) {
		return false
	}
	names, distinct := 0, map[string]bool{}
	for c, k := range header.kinds {
		if k == kindText || k == kindNumber && isYear(header.cells[c]) {
			names++
			distinct[string(header.cells[c])] = true
		}
	}
	contrast := hasContrast(header, below)
	if strict && (names < filled || len(distinct) < names) || !strict && (2*names < filled || !contrast) {
		return false
	}
	groups := 0 // rows that name groups of columns, or several facts
	for j, above := range sampled[:i] {
		n := above.filled()
		isTitle := n == 1 && (filled > 2 || contrast || sampled[j+1].line > above.line+1)
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
func hasContrast(header row, below []row) bool {
	for c, k := range header.kinds {
		texts, others := 0, 0
		for _, r := range below {
			if c < len(r.kinds) && r.kinds[c]&kindText != 0 {
				texts++
			} else if c < len(r.kinds) && r.kinds[c] != 0 {
				others++
			}
		}
		if k == kindText && others > texts {
			return true
		}
	}
	return false
}

func medianFilled(sampled []row) int {
	var counts []int
	for _, r := range sampled {
		counts = append(counts, r.filled())
	}
	slices.Sort(counts)
	return counts[len(counts)/2]
}

// isYear reports whether a number is a likely name of a column.
func isYear(cell []byte) bool {
	n, err := strconv.Atoi(string(cell))
	return err == nil && n >= 1500 && n <= 2200
}

// skippedNote describes the rows above a header.
func skippedNote(sheet string, line int, skipped []row) string {
	var texts []string
	for _, r := range skipped {
		values := slices.DeleteFunc(slices.Clone(r.cells), func(c []byte) bool { return len(c) == 0 })
		texts = append(texts, fmt.Sprintf("%d (%s)", r.line, rows.Clip(string(bytes.Join(values, []byte(" | "))))))
	}
	return fmt.Sprintf("sheet %q: row %d is the header; rows above it are not published: %s", sheet, line, strings.Join(texts, ", "))
}
