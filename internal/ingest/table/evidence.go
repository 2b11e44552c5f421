package table

import (
	"iter"
	"slices"

	"herbarium/internal/ingest/value"
)

// minScore is the score of a table without a header, which a header must reach. Below its negative,
// the rows are evidently records.
const minScore = 0.3

// clearScore is the least score of a header that is not in doubt: one that is supported by more
// than its place in the first row.
const clearScore = minScore + 0.1

// The weights of the evidence. A score is the mean over the columns of the evidence for a name,
// which is from -2 to 2, plus bonuses, minus costs.
const (
	// Evidence of a column, by the kinds of the name and of the values below.
	contrast         = 2.0          // for a name above values of another kind; against a name of the same kind
	sequence         = 1.5          // for a year, date or number in a sequence of such above other values
	unnamed          = 0.4          // against a column of values without a name
	aboveNothing     = contrast / 2 // against a number or date above no values: there is nothing to contrast with
	dateAboveNumbers = contrast / 4 // for a date above numbers: periods name columns, but few of them
	unlikeKinds      = 0.5          // against a value above values of yet another kind: neither may be a name
	emptyWeight      = 0.5          // weight of a column without values: it proves less than others

	// Evidence of a column of texts.
	recurringName = 1.5 // against a name that is also a value
	otherForm     = 0.5 // for a name of another form than that of most values
	muchShorter   = 0.2 // for a name above values that are several times as long

	// Evidence of a text alone.
	addressLike    = 1.0 // against a URL, a mail address or a paragraph
	pairLike       = 0.3 // against digits, and pairs such as id=7
	properNameLike = 0.1 // against names of persons and places
	identifierLike = 0.3 // for words joined by underscores

	// Bonuses.
	firstRow = 0.35 // for the first complete row
	grouped  = 0.05 // for each row that is joined because groups show that it belongs to the header

	// Costs.
	maybeList    = 0.55 // of the first complete row of a file that promises no table: it is often a value of a list
	repeated     = 0.8  // of names that occur twice, by their share
	maxRepeated  = 0.4  // of all of them
	leftOut      = 0.6  // of a row above the header, by the square of its share of the width
	apart        = 0.3  // factor of leftOut if a blank row follows: a title is set apart, a record is not
	detached     = 0.3  // of a blank row below a header that lacks names
	contradicted = 0.6  // of a first record whose values do not fit the columns
	nextMisfit   = 5    // divides contradicted for each further record: the first one proves most
	labels       = 0.10 // of each other row that is joined, such as units, which cannot be a record
)

// Thresholds of the evidence.
const (
	clearContrast   = 0.4 // least evidence of the names at which a row differs from the texts below it
	completePercent = 60  // of the columns that a complete row fills: the last names are often missing
	misfitPercent   = 60  // of the typed values of a record that do not fit: a few texts are remarks
)

// evidence examines the candidates of a sample.
type evidence struct {
	Sample
	kinds  [][]value.Kind // by row and column
	filled []int          // number of values of each row; 1 for text that was split at its delimiters
	last   int            // number of rows above those at the end that may be footnotes
}

func newEvidence(s Sample) *evidence {
	e := &evidence{Sample: s, kinds: make([][]value.Kind, len(s.Rows)), filled: make([]int, len(s.Rows))}
	width := CommonWidth(s.Rows)
	for i, r := range s.Rows {
		e.kinds[i] = make([]value.Kind, min(len(r.Cells), maxColumns))
		for c := range e.kinds[i] {
			e.kinds[i][c] = r.kind(c)
		}
		e.filled[i] = r.Filled()
		if len(r.Cells) != width && r.isSplitText() {
			e.filled[i] = min(e.filled[i], 1)
		}
	}
	e.last = len(WithoutNotes(s.Rows))
	return e
}

// CommonWidth returns the most common number of cells of a row.
func CommonWidth(all []Row) (best int) {
	count := map[int]int{}
	for _, r := range all {
		n := len(r.Cells)
		count[n]++
		if count[n] > count[best] || count[n] == count[best] && n > best {
			best = n
		}
	}
	return best
}

func (e *evidence) kind(row, column int) value.Kind {
	if column >= len(e.kinds[row]) {
		return value.Missing
	}
	return e.kinds[row][column]
}

// starts yields the rows that a header may begin with.
func (e *evidence) starts() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range e.Rows[:min(maxStart, len(e.Rows))] {
			if e.filled[i] > 0 && !yield(i) || e.AtTop {
				return
			}
		}
	}
}

// firstRecord returns the first row of a table without a header. Rows of one value above a blank
// row and a table of at least three columns are titles.
func (e *evidence) firstRecord() int {
	for i, r := range e.Rows[:min(maxStart, len(e.Rows))] {
		switch {
		case e.AtTop:
			return 0
		case e.filled[i] > 2 && i > 0 && r.Gap && i+1 < len(e.Rows):
			return i
		case e.filled[i] > 1 || slices.ContainsFunc(e.kinds[i],
			func(k value.Kind) bool { return k&(value.Text|value.Missing) == 0 }):
			return 0
		}
	}
	return 0
}

// candidate scores the rows from first to end as the header. ok is false if they cannot be one.
func (e *evidence) candidate(first, end int) (l Header, ok bool) {
	l = Header{First: first, End: end}
	names := e.Rows[end-1]
	if end-first > 1 {
		var bonus float64
		names, l.Names, bonus = e.joinedNames(first, end)
		if l.Names == nil {
			return l, false
		}
		l.add("rows that name the columns together", bonus)
	}
	below := e.below(end, e.Rows[end-1])
	width := max(e.typicalWidth(below), names.Filled())
	if first > 0 && (len(below) == 0 || end-first == 1 && e.filled[first] == 1) {
		return l, false // rows are not left out for a header without records; one value is a title
	}
	l.add("names differ from the values below", e.headerScore(names, l.Names, below))
	if e.isFirstComplete(first, width) {
		l.add("first complete row", firstRow)
		if !e.Tabular {
			l.add("the file does not promise a table", -maybeList)
		}
	}
	l.add("names that occur twice", -repetition(names, l.Names))
	l.add("rows above are left out", -e.titleCost(first, width, below))
	if len(below) > 0 && e.Rows[below[0]].Gap && 2*names.Filled() < width {
		l.add("a blank row follows and names are missing", -detached)
	}
	l.add("first records do not fit the columns", -e.contradiction(below))
	return l, true
}

// below returns the indexes of the rows that names are compared with: without footnotes and
// repetitions of the header.
func (e *evidence) below(end int, header Row) (below []int) {
	last := max(e.last, min(end+minRecords, len(e.Rows)))
	last = end + len(FirstTable(header, e.Rows[end:last]))
	for i := end; i < last && len(below) < maxBelow; i++ {
		if e.filled[i] > 0 && !e.Rows[i].equals(header) {
			below = append(below, i)
		}
	}
	return below
}

// typicalWidth returns the median of the numbers of values in rows.
func (e *evidence) typicalWidth(below []int) int {
	if len(below) == 0 {
		return 0
	}
	widths := make([]int, 0, len(below))
	for _, i := range below {
		widths = append(widths, e.filled[i])
	}
	slices.Sort(widths)
	return widths[len(widths)/2]
}

// isFirstComplete reports whether no row above fills most of the width of the table.
func (e *evidence) isFirstComplete(first, width int) bool {
	return !slices.ContainsFunc(e.filled[:first], func(n int) bool { return 100*n >= completePercent*max(width, 2) })
}

// repetition returns the cost of names that occur several times, except signs of missing values
// such as "-". joined are the names that several
// rows give together; nil means that the row gives them.
func repetition(row Row, joined []string) float64 {
	seen, n := map[string]bool{}, 0
	for c := range max(len(row.Cells), len(joined)) {
		name := string(row.cell(c))
		if joined != nil {
			name = joined[c]
		}
		if name != "" && !value.IsMissing([]byte(name)) {
			seen[name] = true
			n++
		}
	}
	return min(maxRepeated, repeated*float64(n-len(seen))/float64(max(n, 1)))
}

// titleCost returns the cost of leaving out the rows above the header. Of the narrow ones only the
// widest counts: there may be any number of titles.
func (e *evidence) titleCost(first, width int, below []int) (cost float64) {
	narrow := 0.0
	for i := range first {
		c := e.leftOutCost(i, first, width, below)
		if 2*e.filled[i] <= width {
			narrow = max(narrow, c)
		} else {
			cost += c
		}
	}
	return cost + narrow
}

// leftOutCost returns the cost of leaving out a row above the header: the more of the width it
// fills, the more likely it is a record. A blank row between it and the header makes it less
// likely.
func (e *evidence) leftOutCost(row, first, width int, below []int) float64 {
	n := e.filled[row]
	if n == 0 || n == 1 && width == 2 && e.isMerged(row) {
		return 0
	}
	share := min(1, float64(n)/float64(max(width, 1)))
	cost := leftOut * share * share
	isNumeric, fits := true, 0
	for c := range e.kinds[row] {
		k := e.kind(row, c)
		isNumeric = isNumeric && k != value.Text
		if typed, dominant, _ := e.dominantKind(below, c); typed && dominant == k {
			fits++
		}
	}
	switch {
	case isNumeric && row > 0 && n == 1 && e.kind(row, 0) == value.Number && e.kind(row-1, 0) == value.Number:
		cost += leftOut // a column of numbers is data
	case 2*fits > n && n > 1:
		cost += leftOut * share // it looks like a record
	case e.isApart(row+1, first):
		cost *= apart
	}
	return cost
}

// isMerged reports whether cells of a row are merged with others right of them.
func (e *evidence) isMerged(row int) bool {
	return slices.ContainsFunc(e.merges(), func(m Merge) bool { return m.Top == e.Rows[row].Line && m.Right > m.Left })
}

// isApart reports whether a blank row is between a row and the header.
func (e *evidence) isApart(from, first int) bool {
	for i := from; i <= first; i++ {
		if e.Rows[i].Gap || e.filled[i] == 0 {
			return true
		}
	}
	return false
}

// dominantKind returns the most frequent kind of the values of a column other than text, and the
// number n of its values. typed is true if there are at least two values and four fifths of them
// have that kind.
func (e *evidence) dominantKind(below []int, column int) (typed bool, dominant value.Kind, n int) {
	var count [256]int
	for _, i := range below {
		if k := e.kind(i, column); k != value.Missing {
			count[k]++
			n++
		}
	}
	for _, k := range []value.Kind{value.Number, value.Date, value.Boolean, value.Other} {
		if count[k] > count[dominant] || dominant == 0 && count[k] > 0 {
			dominant = k
		}
	}
	return n > 1 && 5*count[dominant] >= 4*n, dominant, n
}

// contradiction returns the cost of the first records that do not fit the typed columns, such as
// the real names of the columns, or that are labels. A few texts among many values are remarks.
func (e *evidence) contradiction(below []int) (cost float64) {
	const first = 5
	weight := contradicted
	for n := range min(first, len(below)) {
		typed, others, values := 0, 0, 0
		row, rest := below[n], below[n+1:]
		names := value.Text | e.sequenceKinds(e.Rows[row], rest)
		for c := range e.kinds[row] {
			if isTyped, _, count := e.dominantKind(rest, c); isTyped && e.kind(row, c) != value.Missing {
				values = max(values, count)
				typed++
				if e.kind(row, c)&names != 0 {
					others++
				}
			}
		}
		var of float64
		if n == 0 && len(rest) > 0 && e.isLabel(row, rest) {
			of = confidence(len(rest) / 2)
		}
		isMisfit := 100*others >= misfitPercent*typed
		if typed > 0 && isMisfit {
			share := min(1, 2*float64(others)/float64(e.filled[row]))
			of = max(of, confidence(values/2)*share*float64(others)/float64(typed))
		}
		if of > 0 {
			cost += weight * of
			weight /= nextMisfit
		}
		if typed > 0 && !isMisfit {
			break
		}
	}
	return cost
}

// confidence returns how much n values prove, from 0 to 1.
func confidence(n int) float64 { return float64(n) / float64(n+1) }
