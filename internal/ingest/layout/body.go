package layout

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"

	"herbarium/internal/ingest/rows"
)

// Limits of the rows that are held until it is known whether they are footnotes.
const (
	maxHeld     = 200
	maxFootnote = 4 << 10 // bytes
)

// Body yields the rows below a header without repeated headers and footnotes.
type Body struct {
	header    []Row    // rows of the header that may be repeated
	tags      []Row    // the row of hashtags, if there is one
	units     []Row    // the row of units, if there is one
	stated    []string // the units that it states, by column
	footnotes bool     // footnotes are recognized
	first     int      // the first column with a value
	numeric   bool     // it has numbers or dates only, as far as is known
	longest   int      // bytes of the longest text in it that is like that of footnotes, 0 if there is none
	width     int      // cells of every record, as far as is known; 0: they differ
	records   int      // with several values
	sparse    bool     // some record has a value in the first column only, so that such a row is not evidently a footnote
	spaced    bool     // blanks follow delimiters in some record, so that such a row is not evidently a footnote
	held      []Row
	ready     []Row // that were held and are records
	end       error // io.EOF while ready has rows
	repeats   int   // rows that repeat the header
	repeated  int   // line of the first of them
	dropped   []Row // footnotes, with blank rows above them
}

// Start examines the start of a table. Unless the header is given, it reports whether the first row below is no record but
// states the units of the columns, which it sets, and the body recognizes footnotes below a table of several columns.
func (b *Body) Start(sampled []Row, h Header, columns []rows.Column, isGiven bool) (hasUnits bool) {
	if len(sampled) == 0 {
		return false
	}
	table := WithoutNotes(sampled[h.First:])
	size := min(h.End-h.First, len(table))
	header, sample := table[:size], table[size:]
	if size == 1 || h.Names != nil {
		b.header = uniqueHeader(header, sample)
	}
	if isGiven {
		return false
	}
	if len(sample) > 1 && sample[0].IsTags() {
		b.tags, b.header, sample = sample[:1], append(b.header, sample[0]), sample[1:]
	}
	records := slices.Clone(withoutUnits(sample))
	if len(records) < len(sample) {
		b.units = sample[:1]
		for i, unit := range Units(sample[0], records) {
			if i < len(columns) && unit != "" {
				columns[i].Unit = unit
				b.stated = append(b.stated, columns[i].Name+" in "+unit)
			}
		}
	}
	hasFirst := func(r Row) bool { return len(r.cell(b.first)) > 0 }
	for b.first < len(columns) && !slices.ContainsFunc(records, hasFirst) {
		b.first++
	}
	records = slices.DeleteFunc(records, func(r Row) bool { return r.Filled() < 2 })
	k, n := ColumnKind(records, b.first)
	b.footnotes, b.numeric = b.first+1 < len(columns), n > 0 && k != Text
	for _, r := range records {
		if text := r.cell(b.first); labeled.Match(text) || isSentence(text) {
			b.longest = max(b.longest, len(text))
		}
	}
	b.width = len(columns)
	if i := slices.IndexFunc(records, b.isNarrow); i >= 0 && !slices.ContainsFunc(records[:i+1], func(r Row) bool { return r.Gap }) {
		b.width = 0
	}
	b.spaced = b.first > 0 || slices.ContainsFunc(records, Row.isSpaced)
	return b.units != nil
}

// Next returns the next record that read yields.
func (b *Body) Next(read func() (Row, error)) (Row, error) {
	for len(b.ready) == 0 {
		if b.end != nil {
			return Row{}, b.end
		}
		row, err := read()
		switch {
		case err == io.EOF:
			b.finish()
		case err != nil:
			return Row{}, err
		case row.isOneOf(b.header):
			if b.repeats++; b.repeats == 1 {
				b.repeated = row.Line
			}
		case b.mayBeFootnote(row):
			if b.held = append(b.held, row.Clone()); len(b.held) > maxHeld {
				b.footnotes = false
				b.release()
			}
		case len(b.held) == 0:
			b.records++
			return row, row.Invalid
		default:
			b.records++
			b.release()
			b.ready = append(b.ready, row) // returned before the next row is read
		}
	}
	next := b.ready[0]
	b.ready = b.ready[1:]
	return next, next.Invalid
}

// release makes records of the rows that are held.
func (b *Body) release() {
	b.sparse = b.sparse || slices.ContainsFunc(b.held, func(r Row) bool { return r.Filled() == 1 })
	b.spaced = b.spaced || slices.ContainsFunc(b.held, Row.isSpaced)
	b.ready, b.held = b.held, nil
}

// finish separates the footnotes at the end of the table from records.
func (b *Body) finish() {
	start, isGap := 0, false // start of the footnotes and the blank rows above them
	for i, r := range b.held {
		if r.Filled() == 0 || r.isRule() {
			isGap = true
			continue
		}
		gap := isGap || r.Gap
		if b.isFootnote(r, gap) || gap && b.isSecondTable(b.held[i:]) {
			if len(b.held)-i <= b.records { // more notes than records are no footnotes
				b.held, b.dropped = b.held[:start], b.held[start:]
			}
			break
		}
		isGap, start = false, i+1
	}
	b.ready, b.held, b.end = b.held, nil, io.EOF
}

// IsTags reports whether a row has hashtags of the Humanitarian Exchange Language, such as #adm1+name, which repeat a header.
func (r Row) IsTags() bool {
	isOther := func(c []byte) bool { return len(c) > 0 && !hashtag.Match(c) }
	return r.Filled() > 1 && !slices.ContainsFunc(r.Cells, isOther)
}

// isRule reports whether a row is a line of underscores, hyphens or equals signs, as German statistical offices put above footnotes.
func (r Row) isRule() bool {
	return r.Filled() == 1 && len(r.Cells[0]) > 2 && len(bytes.Trim(r.Cells[0], "_-=")) == 0
}

// uniqueHeader returns the rows of a header that no record can be equal to. Such a row has several names, and one is above
// numbers or dates; or it has three names or occurs three times, and no other row has one of the names.
func uniqueHeader(header, below []Row) (unique []Row) {
	others := slices.DeleteFunc(slices.Clone(below), func(r Row) bool { return r.isOneOf(header) })
	for _, h := range header {
		names, contrast := map[string]bool{}, Contrasts(h, others, len(others)) > 0
		for _, name := range h.Cells {
			if isText(name) {
				names[string(name)] = true
			}
		}
		isName := func(c []byte) bool { return names[string(c)] }
		recurs := slices.ContainsFunc(others, func(r Row) bool { return slices.ContainsFunc(r.Cells, isName) })
		if len(names) > 1 && len(others) > 0 && (contrast || !recurs && (len(names) > 2 || len(below)-len(others) > 1)) {
			unique = append(unique, h)
		}
	}
	return unique
}

// isOneOf reports whether a row has the values of one of the rows of a header.
func (r Row) isOneOf(header []Row) bool {
	n := r.Width()
	return slices.ContainsFunc(header, func(h Row) bool {
		return h.Width() == n && slices.EqualFunc(h.Cells[:n], r.Cells[:n], bytes.Equal)
	})
}

// mayBeFootnote reports whether a row has nothing but text in its first column, which may have been split at its delimiters,
// or is blank. Records above it must have several values.
func (b *Body) mayBeFootnote(row Row) bool {
	if !b.footnotes || b.records < 2 {
		return false
	}
	switch n := row.Filled(); {
	case n == 0:
		return true
	case b.isNarrow(row) && (row.Gap || len(b.held) > 0):
		return row.Size() <= maxFootnote
	case n > 1 && (b.spaced || !row.isSplitText()):
		return false
	}
	return row.Size() <= maxFootnote && (row.isRule() || KindOf(row.cell(b.first)) == Text)
}

// isSecondTable reports whether all rows at the end of a table are narrower than the records, such as a table of footnotes.
// A single one may be a record without its last values.
func (b *Body) isSecondTable(held []Row) bool {
	return len(held) > 1 && !slices.ContainsFunc(held, func(r Row) bool { return r.Filled() > 0 && !b.isNarrow(r) })
}

// isNarrow reports whether a row of a text has fewer cells than every record. Rows of a sheet end with their last value.
func (b *Body) isNarrow(row Row) bool { return row.Kinds == nil && len(row.Cells) < b.width }

// isSplitText reports whether a row is text that was split at delimiters in it, such as "Source: Eurostat, 2019": a blank
// follows each of them, or they separate thousands of a number.
func (r Row) isSplitText() bool {
	for i := 1; i < len(r.Cells); i++ {
		if c := r.Cells[i]; len(c) > 0 && c[0] != ' ' && !isThousands(r.Cells[i-1], c) {
			return false
		}
	}
	return r.isSpaced() && KindOf(r.Cells[0]) == Text
}

// isThousands reports whether a number was split between two values.
func isThousands(before, after []byte) bool {
	isDigit := func(b []byte, i int) bool { return i >= 0 && i < len(b) && b[i] >= '0' && b[i] <= '9' }
	return isDigit(before, len(before)-1) && isDigit(after, 0) && isDigit(after, 1) && isDigit(after, 2) && !isDigit(after, 3)
}

// isSpaced reports whether a blank follows a delimiter.
func (r Row) isSpaced() bool {
	return len(r.Cells) > 1 && slices.ContainsFunc(r.Cells[1:], func(c []byte) bool { return len(c) > 1 && c[0] == ' ' })
}

// WithoutNotes returns a table without last rows that may be footnotes, which would affect the kinds of columns: rows of one
// value, and text that was split at delimiters, unless records look like that. At least three rows remain.
func WithoutNotes(table []Row) []Row {
	if len(table) == 0 || table[0].Filled() < 2 {
		return table
	}
	trim := func(isNote func(Row) bool) []Row {
		end := len(table)
		for end > 3 && isNote(table[end-1]) {
			end--
		}
		return table[:end]
	}
	if rest := trim(func(r Row) bool { return r.Filled() < 2 || r.isSplitText() }); !slices.ContainsFunc(rest, Row.isSpaced) {
		return rest
	}
	return trim(func(r Row) bool { return r.Filled() < 2 })
}

var (
	// labeled matches a note that begins with a label, such as "Source:", or with the sign of a copyright.
	labeled = regexp.MustCompile(`^(?i)(\W*(data )?(sources?|notes?|footnotes?|remarks?|quellen?|anmerkung(en)?|hinweise?|fuentes?|notas?|fontes?|remarques?)( ?\(?\d+\)?)? ?:|©)`)
	// hashtag matches a hashtag with its attributes.
	hashtag = regexp.MustCompile(`^ *#[a-z][a-z0-9_]*( *\+[a-z0-9_]+)* *$`)
	// marked matches a note that begins with the mark of a footnote.
	marked = regexp.MustCompile(`^(\*|†|‡|§|[¹²³]|\(?[0-9a-z]\)|\[[0-9a-z]\])`)
)

// isFootnote reports whether the first text below the records is evidently not a record.
func (b *Body) isFootnote(r Row, gap bool) bool {
	text := r.cell(b.first)
	if labeled.Match(text) {
		return gap || b.longest == 0
	}
	if !gap && !(b.numeric && marked.Match(text)) || len(text) <= 2*b.longest || b.sparse {
		return false
	}
	if r.Filled() > 1 { // numbers make it a record, such as a total
		hasNumber := slices.ContainsFunc(r.Cells, func(c []byte) bool { return KindOf(c)&(Text|Missing) == 0 })
		return isSentence(bytes.Join(r.Cells, nil)) && !hasNumber
	}
	return b.numeric || isSentence(text) || marked.Match(text)
}

func isSentence(text []byte) bool { return len(text) >= 30 && bytes.Count(text, []byte(" ")) >= 3 }

// Lines returns the lines of hashtags, units and footnotes.
func (b *Body) Lines() (lines []int) {
	for _, r := range slices.Concat(b.tags, b.units, b.dropped) {
		for line := r.Line; line <= max(r.Line, r.End); line++ {
			lines = append(lines, line)
		}
	}
	return lines
}

// Notes describes the rows that are not published. unit is what the format calls a row, header the one that names the columns.
func (b *Body) Notes(unit string, header int) (notes []string) {
	if b.units != nil {
		notes = append(notes, fmt.Sprintf("%s %d states the units of the columns and is not published: %s; use --header %d to publish all rows",
			unit, b.units[0].Line, rows.JoinNames(b.stated), header))
	}
	if b.repeats > 0 {
		notes = append(notes, fmt.Sprintf("repeated header %ss, which are not published: %d, the first is %s %d", unit, b.repeats, unit, b.repeated))
	}
	if n := len(b.dropped); n > 0 {
		where := fmt.Sprintf("%s %d is", unit, b.dropped[0].Line)
		if n > 1 {
			where = fmt.Sprintf("%ss %d to %d are", unit, b.dropped[0].Line, b.dropped[n-1].Line)
		}
		notes = append(notes, fmt.Sprintf("%s below the table and not published: %s; use --header %d to publish all rows", where, List(b.dropped), header))
	}
	return notes
}
