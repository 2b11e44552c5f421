package table

import (
	"bytes"
	"regexp"
	"slices"

	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/value"
)

// minRecords is the minimum number of records above a footnote.
const minRecords = 2

// The evidence for a footnote, in points. From minPoints on, the first text below the last record
// and what follows it are footnotes.
const (
	minPoints    = 2
	labelPoints  = 4  // a label, such as "Source:", is hardly ever a value
	gapPoint     = 1  // a blank row sets footnotes apart
	markPoint    = 1  // a mark, such as "*", refers to a value above
	prosePoint   = 1  // sentences are rare in the first column
	typedPoint   = 1  // text does not belong below numbers or dates
	alikePoints  = -3 // records have such text in the column, at least half as long
	sparsePoints = -2 // some record has a value in this column only
)

// footnoteDetector recognizes footnotes below a table. They have nothing but text in the first
// column, which may have been split at its delimiters.
type footnoteDetector struct {
	first   int          // the first column with a value
	isTyped bool         // it has numbers or dates only
	longest map[bool]int // bytes of the longest text in it, by whether it has a label; others are sentences
	sparse  bool         // some record has a value in the first column only
	spaced  bool         // blanks follow delimiters in some record
}

// newFootnoteDetector returns the detector of a table. It returns nil if the table has one column,
// because its records look like footnotes.
func newFootnoteDetector(sample []Row, columns int) *footnoteDetector {
	f := &footnoteDetector{longest: map[bool]int{}}
	hasFirst := func(r Row) bool { return len(r.cell(f.first)) > 0 }
	for f.first < columns && !slices.ContainsFunc(sample, hasFirst) {
		f.first++
	}
	if f.first+1 >= columns {
		return nil
	}
	records := slices.DeleteFunc(slices.Clone(sample), func(r Row) bool { return r.Filled() < 2 })
	k, n := ColumnKind(records, f.first)
	f.isTyped = n > 0 && k != value.Text
	for _, r := range records {
		if text := r.cell(f.first); labelPattern.Match(text) || isSentence(text) {
			f.longest[labelPattern.Match(text)] = max(f.longest[labelPattern.Match(text)], len(text))
		}
	}
	f.spaced = f.first > 0 || slices.ContainsFunc(records, Row.isSpaced)
	return f
}

// observe takes into account records that might have been footnotes.
func (f *footnoteDetector) observe(records []Row) {
	f.sparse = f.sparse || slices.ContainsFunc(records, func(r Row) bool { return r.Filled() == 1 })
	f.spaced = f.spaced || slices.ContainsFunc(records, Row.isSpaced)
}

// mayBeFootnote reports whether a row may be a footnote if no record follows it.
func (f *footnoteDetector) mayBeFootnote(row Row) bool {
	switch n := row.Filled(); {
	case n == 0:
		return true
	case row.Size() > maxFootnote:
		return false
	case n > 1 && (f.spaced || !row.isSplitText()):
		return false
	}
	return row.isRule() || value.KindOf(row.cell(f.first)) == value.Text
}

// index returns the index of the first footnote, or of the blank rows above it, in the last rows of
// a table, and the evidence for it.
func (f *footnoteDetector) index(held []Row) (start int, terms []rows.Term) {
	isGap := false
	for i, r := range held {
		if r.Filled() == 0 || r.isRule() {
			isGap = true
			continue
		}
		gap := isGap || r.Gap
		if terms := f.terms(r, gap); rows.SumTerms(terms) >= minPoints {
			return start, terms
		}
		isGap, start = false, i+1
	}
	return len(held), nil
}

// terms returns the evidence that a text is a footnote.
func (f *footnoteDetector) terms(r Row, gap bool) (terms []rows.Term) {
	text := r.cell(f.first)
	isLabeled := labelPattern.Match(text)
	isProse := isSentence(text)
	if r.Filled() > 1 { // it was split; numbers make it a record, such as a total
		hasNumber := slices.ContainsFunc(r.Cells,
			func(c []byte) bool { return value.KindOf(c)&(value.Text|value.Missing) == 0 })
		isProse = isSentence(bytes.Join(r.Cells, nil)) && !hasNumber
		if !isProse && !isLabeled {
			return nil
		}
	}
	add := func(is bool, name string, points float64) {
		if is {
			terms = append(terms, rows.Term{Name: name, Value: points})
		}
	}
	add(isLabeled, "a label such as Source:", labelPoints)
	add(gap, "a blank row above", gapPoint)
	add(markPattern.Match(text), "a mark such as *", markPoint)
	add(isProse && (gap || f.isTyped), "a sentence", prosePoint)
	add(f.isTyped, "text below numbers or dates", typedPoint)
	add(len(text) <= 2*f.longest[isLabeled], "records have such text", alikePoints)
	add(f.sparse, "records have one value", sparsePoints)
	return terms
}

var (
	// labelPattern matches a note that begins with a label, such as "Source:", or with the sign of
	// a copyright.
	labelPattern = regexp.MustCompile(
		`^(?i)(\W*(data )?(sources?|notes?|footnotes?|remarks?|quellen?|anmerkung(en)?|hinweise?|fuentes?|notas?|fontes?|remarques?)( ?\(?\d+\)?)? ?:|©)`)
	// markPattern matches a note that begins with the mark of a footnote.
	markPattern = regexp.MustCompile(`^(\*|†|‡|§|[¹²³]|\(?[0-9a-z]\)|\[[0-9a-z]\])`)
)

// isSentence reports whether a text is long enough for a sentence and has several words.
func isSentence(text []byte) bool { return len(text) >= 30 && bytes.Count(text, []byte(" ")) >= 3 }

// isRule reports whether a row is a line of underscores, hyphens or equals signs, as German
// statistical offices put above footnotes.
func (r Row) isRule() bool {
	return r.Filled() == 1 && len(r.Cells[0]) > 2 && len(bytes.Trim(r.Cells[0], "_-=")) == 0
}

// isSplitText reports whether a row is text that was split at delimiters in it, such as "Source:
// Eurostat, 2019": a blank follows each of them, or they separate thousands of a number.
func (r Row) isSplitText() bool {
	for i := 1; i < len(r.Cells); i++ {
		if c := r.Cells[i]; len(c) > 0 && c[0] != ' ' && !isThousands(r.Cells[i-1], c) {
			return false
		}
	}
	return r.isSpaced() && value.KindOf(r.Cells[0]) == value.Text
}

// isThousands reports whether a number was split between two values.
func isThousands(before, after []byte) bool {
	isDigit := func(b []byte, i int) bool { return i >= 0 && i < len(b) && b[i] >= '0' && b[i] <= '9' }
	return isDigit(before, len(before)-1) && isDigit(after, 0) && isDigit(after, 1) && isDigit(after, 2) &&
		!isDigit(after, 3)
}

// isSpaced reports whether a blank follows a delimiter.
func (r Row) isSpaced() bool {
	return len(r.Cells) > 1 &&
		slices.ContainsFunc(r.Cells[1:], func(c []byte) bool { return len(c) > 1 && c[0] == ' ' })
}

// WithoutNotes returns the rows below a header without last rows that may be footnotes, which would
// affect the kinds of columns: rows of one value, and text that was split at delimiters, unless
// records look like that. At least two rows remain.
func WithoutNotes(records []Row) []Row {
	wide := 0
	for _, r := range records {
		if r.Filled() > 1 {
			wide++
		}
	}
	if 2*wide < len(records) {
		return records
	}
	trim := func(isNote func(Row) bool) []Row {
		end := len(records)
		for end > minRecords && isNote(records[end-1]) {
			end--
		}
		return records[:end]
	}
	if rest := trim(func(r Row) bool { return r.Filled() < 2 || r.isSplitText() }); !slices.ContainsFunc(rest,
		Row.isSpaced) {
		return rest
	}
	return trim(func(r Row) bool { return r.Filled() < 2 })
}
