package layout

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"herbarium/internal/ingest/rows"
)

// Header is the position of the rows that name the columns in a sample of the first rows of a table.
type Header struct {
	First, End int      // rows before First are titles; both are equal if the table has no header
	Names      []string // names that several rows give together; nil: the values in each column are joined
}

// DetectHeader returns the rows that name the columns if start is the first of them that is complete. The options may give
// them instead.
func DetectHeader(sampled []Row, start int, o rows.Options, merges func() []Merge) Header {
	h := Header{First: start, End: start + 1}
	sampled = sampled[:start+len(WithoutNotes(sampled[start:]))]
	switch {
	case o.Header == rows.HeaderNone:
		return Header{}
	case len(o.HeaderRows) > 0:
		for h.End < len(sampled) && sampled[h.End].Line <= slices.Max(o.HeaderRows) {
			h.End++
		}
		if h.End-h.First == len(o.HeaderRows) {
			h.Names = groupNames(sampled, h.First, h.End, merges, o.HeaderJoin)
		}
		return h
	case o.Header == rows.HeaderPresent || len(sampled) == 0:
		return h
	case o.Skip == 0 && IsRecord(sampled[start], sampled[start+1:]):
		return Header{First: start, End: start}
	}
	// Rows above or below the header may name the columns together with it. If the first row is the header for lack of evidence,
	// such rows may also be below titles.
	for end := max(h.End, 2); end < len(sampled); end++ {
		isPossible := false
		for first := max(end-maxHeader, 0); first < end-1; first++ {
			if first > start && (start > 0 || sampled[first-1].Filled() > 1) {
				continue
			}
			isPossible = true
			if names := groupNames(sampled, first, end, merges, o.HeaderJoin); names != nil {
				return Header{first, end, names}
			}
		}
		if !isPossible {
			break
		}
	}
	return h
}

// groupNames returns the names that the rows from first to end give together, nil if they do not.
func groupNames(sampled []Row, first, end int, merges func() []Merge, separator string) []string {
	hasGap := func(r Row) bool { return r.Gap }
	if n := end - first; n < 2 || n > maxHeader || end > len(sampled) || slices.ContainsFunc(sampled[first+1:end], hasGap) {
		return nil
	}
	return Groups(sampled[first:end], sampled[end:], merges, separator)
}

// FindHeader returns the index of the header among the first rows of a table. It is the first row that is mostly filled, with
// distinct names, above rows of about the same width, and below nothing but titles. If no row has distinct names, one that
// differs in kind from the values below it is accepted. Without any evidence the header is the first row.
func FindHeader(sampled []Row, merges func() []Merge) int {
	for _, strict := range []bool{true, false} {
		for i, above := 0, 0; i < len(sampled); i++ {
			filled := sampled[i].Filled()
			if filled > 1 && above <= filled/2 && isHeader(sampled, i, strict, merges) {
				return moreNames(sampled, i)
			}
			if !sampled[i].isSplitText() {
				above = max(above, filled)
			}
		}
	}
	return 0
}

func isHeader(sampled []Row, i int, strict bool, merges func() []Merge) bool {
	const maxBelow = 20 // rows that a header is compared with
	below := WithoutNotes(sampled[i:])[1:]
	header, below := sampled[i], below[:min(maxBelow, len(below))]
	filled := header.Filled()
	wider := countFunc(below, func(r Row) bool { return 3*r.Filled() > 5*filled })
	if header.isSplitText() && len(below) > 0 && len(below[0].Cells) != len(header.Cells) {
		return false
	}
	names, distinct := countNames(header, below)
	contrast := Contrasts(header, below, 1) > 0
	isWider := 2*wider >= len(below) && !(contrast && isApart(sampled, i) && filled == header.Width()) // columns right of it may have no name
	if isWider || strict && distinct < filled || !strict && (2*names < filled || !contrast) {
		return false
	}
	numbers := 0 // several rows of numbers above one another are data
	for j, above := range sampled[:i] {
		isMerged := func(m Merge) bool { return m.Top == above.Line && m.Right > m.Left }
		n := above.Filled()
		switch {
		case n > 1 && above.isSplitText() && len(above.Cells) == len(header.Cells):
			return false
		case contrast || n == 0:
		case n > 1 && !isApart(sampled, i), n == 1 && filled < 3 && !isApart(sampled, j+1) && !slices.ContainsFunc(merges(), isMerged):
			return false
		}
		isNumber := func(c []byte) bool { return KindOf(c) == Number }
		if slices.ContainsFunc(above.Cells, isNumber) && !slices.ContainsFunc(above.Cells, isText) {
			numbers++
		}
	}
	return numbers < 2
}

// isApart reports whether a blank row is above the one at an index.
func isApart(sampled []Row, i int) bool { return sampled[i].Gap || i > 0 && sampled[i-1].Filled() == 0 }

// moreNames returns the index of the row that names the columns if the rows from i on are nothing but names: the last one
// that has more of them than the row at i, above values of other kinds. Otherwise it is i.
func moreNames(sampled []Row, i int) int {
	header := i
	for j := i; j <= i+maxHeader && j+1 < len(sampled); j++ {
		if _, distinct := countNames(sampled[j], sampled[j+1:]); distinct < sampled[j].Filled() {
			break
		}
		if sampled[j].Filled() > sampled[header].Filled() && Contrasts(sampled[j], sampled[j+1:], 1) > 1 {
			header = j
		}
	}
	return header
}

// countNames counts the values of a row that may name a column, and the different ones.
func countNames(r Row, below []Row) (names, distinct int) {
	seen, kinds := map[string]bool{}, nameKinds(r, below)
	for _, c := range r.Cells {
		if KindOf(c)&kinds != 0 || isYear(c) {
			names++
			seen[string(c)] = true
		}
	}
	return names, len(seen)
}

// Contrasts returns the number of columns that have a name in the header and, for each value below that may be one, more than
// a number of others: neither texts nor, below a year, years.
func Contrasts(header Row, below []Row, least int) (n int) {
	kinds := nameKinds(header, below)
	isOther := func(c []byte) bool { return KindOf(c) == Number && !isYear(c) } // among such, a year is a number
	below = slices.DeleteFunc(slices.Clone(below), func(r Row) bool { return r.isOneOf([]Row{header}) })
	for i, name := range header.Cells {
		isOfKind, names, others := KindOf(name)&kinds != 0, 0, 0
		if !isOfKind && (!isYear(name) || slices.ContainsFunc(header.Cells, isOther)) {
			continue
		}
		for _, r := range below {
			switch got := KindOf(r.cell(i)); {
			case got == Missing:
			case got == Text || !isOfKind && isYear(r.cell(i)):
				names++
			default:
				others++
			}
		}
		if others > least*names {
			n++
		}
	}
	return n
}

// nameKinds returns the kinds of values that name columns in a row: texts, at least three dates in ascending order, and at
// least five numbers, such as weeks, that areNames accepts.
func nameKinds(r Row, below []Row) Kind {
	kinds := Text
	var dates []string
	for _, c := range r.Cells {
		if KindOf(c) == Date {
			dates = append(dates, string(c))
		}
	}
	if n := len(dates); n >= 3 && slices.IsSorted(dates) && len(slices.Compact(dates)) == n {
		kinds |= Date
	}
	if numbers, _ := integers(r.Cells); len(numbers) >= 5 && numbers[len(numbers)-1] == numbers[0]+len(numbers)-1 && areNames(r.Cells, below) {
		kinds |= Number
	}
	return kinds
}

// IsRecord reports whether the first row is a record like the others: a column has numbers or dates only, or codes that look
// alike, or texts recur. A name above numbers or dates rules it out.
func IsRecord(first Row, others []Row) bool {
	hasText := slices.ContainsFunc(first.Cells, isText)
	different := slices.DeleteFunc(slices.Clone(others), func(r Row) bool { return r.isOneOf([]Row{first}) })
	below := others
	if len(different) > 0 && hasText {
		below = withoutUnits(different) // the header may be repeated
	}
	if len(others) == 0 || len(others) == 1 && (hasText || first.Kinds == nil && first.Filled() < 2) || Contrasts(first, below, 4) > 0 {
		return false
	}
	numbers, _ := integers(first.Cells)
	typed, texts, recurring, unlike := 0, 0, 0, 0 // columns of numbers or dates, others, those with a similar value below, all without one
	for i, name := range first.Cells {
		k, n := ColumnKind(below, i)
		nameKind, similar := KindOf(name), 0 // similar values are equal texts, or others of the same kind
		if nameKind == Text {
			similar = countFunc(different, func(r Row) bool { return bytes.Equal(r.cell(i), bytes.TrimSpace(name)) })
		} else {
			similar = countFunc(below, func(r Row) bool { return KindOf(r.cell(i)) == nameKind })
		}
		switch {
		case nameKind == Missing:
			continue
		case n > 0 && k == Text && nameKind == Text && len(different) > 1 && (2*similar > max(len(different), 2) || isCode(name, different, i)):
			return true
		case n > 0 && k == Text:
			if texts++; similar > 0 && (nameKind == Text || len(numbers) < 3) {
				recurring++
			}
		case k == nameKind:
			typed++
		}
		if similar == 0 {
			unlike++
		}
	}
	isAlike := !hasText && first.Filled() > 0 && unlike == 0
	isNull := func(c []byte) bool { return string(c) == `\N` } // of MySQL and PostgreSQL, which is no name
	return (typed > 0 || isAlike) && !areNames(first.Cells, below) || recurring >= 2 && 10*recurring >= 7*texts || slices.ContainsFunc(first.Cells, isNull)
}

func countFunc(all []Row, test func(Row) bool) (n int) {
	for _, r := range all {
		if test(r) {
			n++
		}
	}
	return n
}

func isText(c []byte) bool { return KindOf(c) == Text }

// isCode reports whether a value and all values of a column below it are codes that look alike, such as RO1-0001: each has
// letters and digits, three of them at least, at the same positions.
func isCode(value []byte, below []Row, column int) bool {
	shape := shapeOf(value)
	isOther := func(r Row) bool { return column >= len(r.Cells) || shapeOf(r.Cells[column]) != shape }
	return strings.Count(shape, "0") > 2 && strings.Contains(shape, "a") && !slices.ContainsFunc(below, isOther)
}

// shapeOf replaces each letter of a value by a and each digit by 0.
func shapeOf(value []byte) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r):
			return 'a'
		case unicode.IsDigit(r):
			return '0'
		}
		return r
	}, string(value))
}

// areNames reports whether numbers in the first row may be names: numbers from 0, years above other numbers, or, if every row has
// texts, three that are consecutive or increase by column above others that do not.
func areNames(first [][]byte, others []Row) bool {
	names, ok := integers(first)
	last := len(names) - 1
	repeats := func(r Row) bool { n, _ := integers(r.Cells); return slices.Equal(n, names) }
	if last < 0 || !isIncreasing(names) || slices.ContainsFunc(others, repeats) {
		return false
	}
	differ := func(test func([]int) bool) bool {
		return slices.ContainsFunc(others, func(r Row) bool { n, ok := integers(r.Cells); return !ok || !test(n) })
	}
	isNumeric := func(r Row) bool { return !slices.ContainsFunc(r.Cells, isText) }
	switch isConsecutive := names[last] == names[0]+last; {
	case ok && isConsecutive && last > 0 && names[0] == 0, ok && areYears(names) && differ(areYears):
		return true
	case last > 1 && (slices.ContainsFunc(first, isText) || !slices.ContainsFunc(others, isNumeric)):
		return isConsecutive || ok && differ(isIncreasing)
	}
	return false
}

// integers returns the integers in a row, and whether all numbers and dates are such.
func integers(cells [][]byte) (numbers []int, ok bool) {
	ok = true
	for _, cell := range cells {
		if KindOf(cell)&(Number|Date) == 0 {
			continue
		}
		n, err := strconv.Atoi(string(bytes.TrimSpace(cell)))
		if ok = ok && err == nil && n >= 0; ok {
			numbers = append(numbers, n)
		}
	}
	return numbers, ok
}

func areYears(numbers []int) bool {
	return !slices.ContainsFunc(numbers, func(n int) bool { return n < 1000 || n >= 3000 })
}

func isIncreasing(numbers []int) bool {
	return slices.IsSorted(numbers) && len(slices.Compact(slices.Clone(numbers))) == len(numbers)
}
