package delimited

import (
	"bytes"
	"regexp"

	"herbarium/internal/ingest/kind"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/table"
)

// The sample in which the dialect is detected. It is extended if it has few lines.
const (
	sampleBytes     = 64 << 10
	longSampleBytes = 1 << 20
	sampleRecords   = 200
)

// sample is the part of a text in which the dialect is detected.
type sample struct {
	text    []byte
	all     bool         // it is the rest of the text
	line    int          // of its first byte
	ruler   []byte       // the comment above the first line, if it is a ruler
	options rows.Options // as given
	tabular bool         // the file name promises delimited text, not text aligned by blanks
}

// detect returns the best reading:
//
//   - The header must contain the delimiter. The delimiter with the highest score wins: the share
//     of records with as many values as the header, times the number of columns; of equals the
//     first of comma, semicolon, tab and bar. Commas that are all within numbers are decimal
//     commas. A delimiter that splits all records like the header wins over one that splits some
//     into more values. Tabs that split all records evenly into at least three values win.
//   - A delimiter that splits some records into more values than the header has, and more than half
//     into another number, is ruled out: a column of addresses is not split at its commas. If all
//     records have the same number of values, the header is wrong and reading reports it.
//   - Runs of blanks win over tabs if they split at least ten records evenly into more values.
//   - A delimiter that quotes protect is the right one, even if records have different lengths;
//     reading reports these.
//   - Other delimiters (^ ~ and the control characters 1 and 31), runs of blanks, or runs of
//     several blanks must split everything evenly.
//   - Columns of fixed width win over everything else if a ruler shows them. Otherwise, some column
//     must have numbers or dates, and they win if no delimiter splits the lines, or if at least two
//     blanks are between more columns than the delimiter makes, and it is within values only.
//   - Two colons must split everything evenly into at least three values, one of them always a
//     number; an IP address has two colons once.
//   - A header of at least three names decides, in a file whose name promises a table; reading
//     reports records that do not fit.
//   - Otherwise each line is one value. Bars are often part of identifiers.
//   - Quotes are single if no value begins with a double quote, all values that begin with a single
//     quote end with it, and all names are quoted or quotes enclose a delimiter or a line end.
func (s sample) detect(d dialect) reading {
	double := s.bestDelimiter(d)
	if d.isFixed() || s.options.Quote != 0 || s.options.NoQuote || double.quoted > 0 || bytes.IndexByte(s.text, '\'') < 0 {
		return double
	}
	d.Quote = '\''
	single := s.bestDelimiter(d)
	if single.quoted > 1 && !single.broken && (single.quotedHeader || single.protects) && single.score() >= double.score() {
		return single
	}
	return double
}

// bestDelimiter returns the best reading with a quote.
func (s sample) bestDelimiter(d dialect) (best reading) {
	var tried []reading
	read := func(d dialect) reading {
		r := s.read(d)
		if s.options.Explain != nil {
			tried = append(tried, r)
		}
		return r
	}
	choose := func(r reading, rule string) reading {
		r.rule, r.tried = rule, tried
		return r
	}
	if d.separates() {
		return choose(s.read(s.inBars(d)), "it is given")
	}
	if bytes.Contains(s.text, []byte("::")) && !s.tabular {
		colons := d
		colons.Delimiter, colons.Quote, colons.double = ':', 0, true
		if r := read(colons); s.isAligned(r) && r.header > 2 && r.fitting == r.total {
			return choose(r, "two colons split all records evenly")
		}
	}
	with := func(delimiter byte) reading {
		d.Delimiter, d.blanks = delimiter, delimiter == ' '
		return read(s.inBars(d))
	}
	if r := with('|'); r.dialect.ruled && r.total > 0 && r.fitting == r.total && (r.header > 1 || r.dialect.framed) {
		return choose(r, "a ruler is between its bars")
	}
	columns, hasColumns := s.findColumns(d)
	var fixed reading
	if hasColumns {
		fixed = read(columns.dialect)
		if hasColumns = len(fixed.records) > 0 && columns.isTable(fixed); hasColumns && columns.isRuled {
			return choose(fixed, "a ruler shows the columns")
		}
	}
	const blankRule = "the same characters are blank in all records"
	var usual []reading
	first := -1
	for i, delimiter := range []byte(",;\t|") {
		r := with(delimiter)
		usual = append(usual, r)
		if r.header > 1 && (!r.exceeds || 2*r.fitting >= r.total) && (first < 0 || r.isBetter(usual[first])) {
			first = i
		}
	}
	if first >= 0 {
		if hasColumns && !s.tabular && columns.isBetter(fixed, usual[first]) {
			return choose(fixed, blankRule)
		}
		if usual[first].dialect.Delimiter == '\t' && !s.tabular && bytes.Contains(s.text, []byte("  ")) { // a tab may be one of the blanks
			if r := with(' '); r.total >= 10 && r.header > usual[first].header && r.fitting == r.total && !r.broken && s.isAligned(r) {
				return choose(r, "runs of blanks split all records into more values than tabs")
			}
		}
		if usual[first].isTabbed() {
			return choose(usual[first], "tabs split all records evenly")
		}
		return choose(usual[first], "")
	}
	for i, delimiter := range []byte("^~\x01\x1f  ") {
		d.wide = i > 4 && !s.tabular // the second time, values may have single blanks in them
		r := with(delimiter)
		if r.header > 1 && r.total > 0 && r.fitting == r.total && !r.broken && (delimiter != ' ' || s.isAligned(r)) {
			if hasColumns && r.rowNames && columns.isSpaced && fixed.found.Exists() && fixed.header < r.header {
				return choose(fixed, blankRule) // what seems to be a row name is the first word of a value
			}
			return choose(r, "it splits all records evenly")
		}
	}
	if hasColumns && (columns.isSpaced || !s.tabular) {
		return choose(fixed, blankRule)
	}
	for _, r := range usual {
		hasWrongHeader := r.total > 0 && r.dialect.Delimiter != '|' && len(r.records[r.found.First+1].Cells) > 1 && r.even && !s.isProse(r.dialect)
		if hasWrongHeader || r.header > 1 && r.protects && !r.broken && r.total > 0 {
			return choose(r, "all records have the same number of values, or quotes enclose the delimiter")
		}
	}
	if len(usual[0].records) == 0 {
		return choose(usual[0], "")
	}
	for _, r := range usual { // the header of a table splits, so reading reports the records that do not fit
		if s.tabular && r.header > 2 && r.total > 0 && !r.broken && r.dialect.Delimiter != '|' && !s.isProse(r.dialect) {
			return choose(r, "it splits the first line of a table")
		}
	}
	d.wide = false
	return choose(with(0), "no delimiter splits the lines")
}

func (r reading) isBetter(than reading) bool {
	switch isComplete := func(r reading) bool { return r.total > 1 && r.fitting == r.total }; {
	case r.broken != than.broken:
		return than.broken
	case r.isTabbed() != than.isTabbed():
		return r.isTabbed()
	case r.exceeds && isComplete(than) || than.exceeds && isComplete(r):
		return than.exceeds
	case than.dialect.Delimiter == ',' && isComplete(r) && r.hasDecimalCommas():
		return true
	}
	return r.score() > than.score()
}

// decimalComma matches a number with a decimal comma.
var decimalComma = regexp.MustCompile(`^ *[-+]?\d*,\d+ *$`)

// hasDecimalCommas reports whether every comma in the values belongs to a number.
func (r reading) hasDecimalCommas() bool {
	found := false
	for _, record := range r.records {
		for _, c := range record.Cells {
			if bytes.IndexByte(c, ',') < 0 {
				continue
			}
			if found = true; !decimalComma.Match(c) {
				return false
			}
		}
	}
	return found
}

// isTabbed reports whether tabs split all records into the same number of at least three values,
// which proves more than other delimiters: values hardly ever contain tabs.
func (r reading) isTabbed() bool {
	return r.dialect.Delimiter == '\t' && r.header > 2 && r.fitting == r.total && !r.exceeds
}

// score measures how well the records fit the header. Without records, a comma is preferred.
func (r reading) score() float64 {
	switch {
	case r.total > 0:
		return float64(r.fitting) / float64(r.total) * float64(r.header-1)
	case r.dialect.Delimiter == ',':
		return rows.MaxColumns
	}
	return float64(r.header - 1)
}

// isAligned reports whether all records of a reading with blanks have the same number of values and
// either all names are in quotes, as R writes them, or some column has numbers or dates only.
// Single blanks in a file that promises delimited text may be part of values.
func (s sample) isAligned(r reading) bool {
	if r.total < 2 || !r.even {
		return false
	}
	if r.quotedHeader {
		return true
	}
	others := r.records[r.found.First+1:]
	if s.tabular && !bytes.Contains(s.text, []byte("  ")) {
		return s.areNumbers(others)
	}
	for i := range others[0].Cells {
		if k, n := table.ColumnKind(others, i); n > 0 && k != kind.Text && (i > 0 || !r.rowNames) {
			return true
		}
	}
	return false
}

// areNumbers reports whether records that were split at blanks are nothing but numbers: several of
// them rather than one with blanks between thousands or between the parts of a phone number.
func (s sample) areNumbers(records []table.Row) bool {
	thousands := true
	for _, r := range records {
		for i, c := range r.Cells {
			if kind.Of(c) != kind.Number {
				return false
			}
			digits, _, _ := bytes.Cut(c, []byte("."))
			thousands = thousands && (i == 0 || len(digits) == 3)
		}
	}
	return !thousands && (len(records[0].Cells) > 2 || bytes.IndexByte(s.text, '.') >= 0)
}

// isProse reports whether the delimiter is a comma that a blank always follows, as in sentences and
// addresses.
func (s sample) isProse(d dialect) bool {
	return d.Delimiter == ',' && bytes.Count(s.text, []byte(",")) == bytes.Count(s.text, []byte(", "))
}
