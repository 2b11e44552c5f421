package xlsx

import (
	"slices"
	"strconv"

	"herbarium/internal/ingest/layout"
)

// maxGroupRows is the number of rows above a header that may have several values.
const maxGroupRows = 3

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
// with distinct names, above rows of about the same width, and below nothing but titles. If no row has distinct names, one
// that differs in kind from the values below it is accepted. Without any evidence the header is the first row. It is -1 if
// the first row consists of values like those below it.
func detectHeader(sampled []layout.Row) int {
	if isRecord(sampled) {
		return -1
	}
	for _, strict := range []bool{true, false} {
		for i := range sampled {
			if isHeader(sampled, i, strict) {
				return moreNames(sampled, i)
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
	const maxBelow = 20 // rows that a header is compared with
	header, below := sampled[i], sampled[i+1:min(i+1+maxBelow, len(sampled))]
	filled, wider := header.Filled(), 0 // wider rows below have 5 values for 3 of the header, or more
	for _, r := range below {
		if 3*r.Filled() > 5*filled {
			wider++
		}
	}
	if filled < 2 || 2*wider >= len(below) {
		return false
	}
	names, distinct := countNames(header)
	contrast := contrasts(header, below) > 0
	if strict && distinct < filled || !strict && (2*names < filled || !contrast) {
		return false
	}
	groups := 0 // rows that name groups of columns, or several facts
	for j, above := range sampled[:i] {
		n := above.Filled()
		if n == 1 && (filled > 2 || contrast || sampled[j+1].Line > above.Line+1) {
			continue // a title
		}
		if groups++; !contrast || 2*n > filled || groups > maxGroupRows {
			return false
		}
	}
	return true
}

// moreNames returns the index of the row that names the columns if the rows from i on are nothing but names: the last one
// that has more of them than the row at i, above values of other kinds. Otherwise it is i.
func moreNames(sampled []layout.Row, i int) int {
	header := i
	for j := i; j <= i+maxGroupRows && j+1 < len(sampled); j++ {
		if _, distinct := countNames(sampled[j]); distinct < sampled[j].Filled() {
			break
		}
		if sampled[j].Filled() > sampled[header].Filled() && contrasts(sampled[j], sampled[j+1:]) > 1 {
			header = j
		}
	}
	return header
}

// countNames counts the values of a row that may name a column (texts, years and periods), and the different ones.
func countNames(r layout.Row) (names, distinct int) {
	seen, kinds := map[string]bool{}, layout.Text|periods(r)
	for c, k := range r.Kinds {
		if k&kinds != 0 || k == layout.Number && layout.IsYear(r.Cells[c]) {
			names++
			seen[string(r.Cells[c])] = true
		}
	}
	return names, len(seen)
}

// contrasts returns the number of columns that have a name in the header and mostly values of other kinds than text below.
// Periods always name columns.
func contrasts(header layout.Row, below []layout.Row) (n int) {
	kinds := layout.Text | periods(header)
	for c, k := range header.Kinds {
		surplus := 0 // of values that are not text
		for _, r := range below {
			if c < len(r.Kinds) && r.Kinds[c]&layout.Text != 0 {
				surplus--
			} else if c < len(r.Kinds) && r.Kinds[c] != 0 {
				surplus++
			}
		}
		if k&kinds != 0 && surplus > 0 {
			n++
		}
	}
	return n
}

// periods returns the kinds of the values of a row that name periods: at least three dates in ascending order, or five
// consecutive numbers, such as weeks. It is 0 if there are none.
func periods(r layout.Row) (found layout.Kind) {
	const days = layout.Date | layout.Datetime
	var dates, numbers []string
	for c, k := range r.Kinds {
		if k&days != 0 {
			dates = append(dates, string(r.Cells[c]))
		} else if k == layout.Number {
			numbers = append(numbers, string(r.Cells[c]))
		}
	}
	if n := len(dates); n >= 3 && slices.IsSorted(dates) && len(slices.Compact(dates)) == n {
		found |= days
	}
	if len(numbers) >= 5 && areConsecutive(numbers) {
		found |= layout.Number
	}
	return found
}

func areConsecutive(numbers []string) bool {
	first, err := strconv.Atoi(numbers[0])
	for i, n := range numbers {
		if err != nil || n != strconv.Itoa(first+i) {
			return false
		}
	}
	return true
}
