package delimited

import (
	"bytes"
	"slices"
	"strconv"

	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/table"
	"herbarium/internal/ingest/value"
)

// reading is a sample as read in one dialect.
type reading struct {
	dialect      dialect
	records      []table.Row
	found        table.Header
	tabular      bool // the file promises a table
	rowNames     bool // the header has no name for the first column
	header       int  // values of the header
	total        int  // records after the header
	fitting      int  // those with as many values as the header
	delimiters   int  // in records that have at most as many values as the header
	exceeds      bool // some have more
	even         bool // all have as many as the first of them
	quotedHeader bool // all values of the first record are in quotes
	quotedNames  int  // records after the first whose first value is in quotes
	protects     bool // quotes enclose a delimiter or a line end
	broken       bool // a quote is not closed properly
	spacedQuotes bool // blanks are between a delimiter and the opening quote of a value

	// For an explanation.
	terms    []rows.Term  // evidence for the delimiter
	tried    []reading    // in all delimiters, if an explanation is wanted
	examined table.Sample // in which the header was detected
	detected table.Header // in that sample
}

// read reads the sample in a dialect. It uses backslash escapes if the sample is consistent only
// with them.
func (s sample) read(d dialect) reading {
	d.literal = s.options.Quote == 0 && !s.options.NoQuote && (d.Delimiter == '\t' || d.Delimiter == '|')
	r := s.split(d)
	if r.spacedQuotes && !d.SkipInitialSpace {
		d.SkipInitialSpace = true
		if e := s.read(d); !e.broken && (r.exceeds || !e.exceeds) && e.header >= r.header {
			return e
		}
		d.SkipInitialSpace = false
	}
	isEscaped := func(c byte) bool { return bytes.Contains(s.text, []byte{'\\', c}) }
	if d.Escape != 0 || s.options.NoQuote || !r.broken && !r.exceeds || !isEscaped(d.Quote) && !isEscaped(d.Delimiter) {
		return r
	}
	d.Escape, d.lenient = '\\', true
	if e := s.split(d); !e.broken && !e.exceeds && e.header > 1 {
		return e
	}
	return r
}

// split splits the sample into records and locates the header.
func (s sample) split(d dialect) reading {
	r := reading{dialect: d}
	c := &scanner{text: charset.Sample(s.text), next: s.line}
	c.setDialect(d)
	for len(r.records) < sampleRecords {
		if err := c.readRecord(); err != nil {
			r.broken = len(c.text.Bytes()) > 0 && (s.all || !c.openEnded)
			break
		}
		if len(r.records) > 0 && !s.all && c.size == len(c.text.Bytes()) {
			break // it may be incomplete
		}
		r.add(c)
		c.columns = len(r.records[0].Cells)
	}
	if len(r.records) == 0 {
		return r
	}
	r.tabular = s.tabular || d.separates() && !d.blanks || r.quotedHeader
	r.locateHeader(s)
	return r
}

// sample returns the records for the detection of the layout.
func (r *reading) sample() table.Sample {
	return table.Sample{Rows: r.records, Tabular: r.tabular}
}

// locateHeader detects the header among the records and compares them with it. Only delimiters that
// hardly ever are in a title can be above it.
func (r *reading) locateHeader(s sample) {
	o, d := s.options, r.dialect
	r.measure(0)
	width := table.CommonWidth(r.records)
	in := r.sample()
	in.AtTop = o.Skip > 0 || len(o.HeaderRows) > 0 || o.Header == rows.HeaderNone || d.blanks || !d.separates() ||
		width < 2 || s.isProse(d)
	switch {
	case !s.all && len(r.records) == 1 && o.Header != rows.HeaderNone: // a long line, with nothing to compare it with
		r.found = table.Header{End: 1}
	case o.Header != rows.HeaderNone && len(o.HeaderRows) < 2 && d.separates() && r.hasRowNames():
		r.rowNames, r.header, r.fitting, r.delimiters, r.exceeds = true, width, r.total, r.total*(width-1), false
		r.found = table.Header{End: 1}
	default:
		r.found = table.Detect(in, o)
		r.measure(r.found.First)
		if r.found.First > 0 && !r.fits() {
			in.AtTop = true
			r.measure(0)
			r.found = table.Detect(in, o)
		}
	}
	r.examined, r.detected = in, r.found
}

func (r *reading) add(c *scanner) {
	raw, quoted := c.text.Bytes(), 0
	for _, v := range c.spans {
		if v.quoted {
			quoted++
			r.protects = r.protects || bytes.ContainsAny(raw[v.start:v.end], "\r\n"+string(rune(c.d.Delimiter)))
		} else if value := bytes.TrimLeft(raw[v.start:v.end], " "); len(value) < v.end-v.start && len(value) > 0 &&
			value[0] == c.d.Quote {
			r.spacedQuotes = true
		}
	}
	if len(r.records) == 0 {
		r.quotedHeader = quoted == c.width
	} else if c.spans[0].quoted {
		r.quotedNames++
	}
	row := c.record
	row.Cells = slices.Clone(row.Cells)
	r.records = append(r.records, row)
}

// measure compares the records with the header at an index.
func (r *reading) measure(start int) {
	header := r.records[start]
	others, width := table.FirstTable(header, r.records[start+1:]), len(header.Cells)
	r.header = width
	if start > 0 {
		width = header.Width() // the header may end with a delimiter
		others = table.WithoutNotes(others)
	}
	r.total = len(others)
	r.fitting, r.delimiters, r.exceeds, r.even = 0, 0, false, true
	for _, rec := range others {
		r.even = r.even && len(rec.Cells) == len(others[0].Cells)
		if rec.Width() > r.header {
			r.exceeds = true
			continue
		}
		r.delimiters += min(len(rec.Cells), r.header) - 1
		if len(rec.Cells) >= width {
			r.fitting++
		}
	}
}

// isSpaced reports whether most records have several blanks between words, as columns of fixed
// width do.
func (r *reading) isSpaced() bool {
	spaced := 0
	for _, rec := range r.records {
		if bytes.Contains(bytes.TrimSpace(rec.Cells[0]), []byte("  ")) {
			spaced++
		}
	}
	return len(r.records) > 2 && 2*spaced > len(r.records)
}

// fits reports whether most records have as many values as the header, and none has more.
func (r *reading) fits() bool { return !r.exceeds && 10*r.fitting >= 8*r.total }

// hasRowNames reports whether the header has exactly one value fewer than the records because, as R
// writes tables, the first column has no name. Values that were split at a comma must not be taken
// for it, so the row names must be quoted or consecutive numbers, or be left of nothing but numbers
// with decimal points and at most one column of text, or of three columns of whole numbers of which
// none can be decimals of the one before, or at least be unique in text with several columns and
// another delimiter.
func (r *reading) hasRowNames() bool {
	width := r.header + 1
	if r.total < 2 || !r.even || len(r.records[1].Cells) != width {
		return false
	}
	if slices.ContainsFunc(r.records[0].Cells, func(name []byte) bool { return len(name) == 0 }) { // a title
		return false
	}
	sequence, last, points, numbers := true, false, false, true
	seen := map[string]bool{"": true}
	first, _ := strconv.Atoi(string(r.records[1].Cells[0]))
	for i, rec := range r.records[1:] {
		name := string(rec.Cells[0])
		if seen[name] {
			return false
		}
		seen[name] = true
		sequence = sequence && first <= 1 && name == strconv.Itoa(first+i)
		last = last || rec.Width() == width
		for _, c := range rec.Cells[1:] {
			numbers = numbers && value.KindOf(c)&(value.Number|value.Missing) != 0
			points = points || bytes.IndexByte(c, '.') >= 0
		}
		numbers = numbers && value.KindOf(rec.Cells[0]) == value.Text
	}
	return last && (r.quotedNames == r.total || sequence || r.header > 1 &&
		(r.dialect.Delimiter != ',' || numbers && points || r.hasDecimals() || r.hasWholeNumbers()))
}

// hasWholeNumbers reports whether all columns but the first one are whole numbers, at least three,
// and all but the first of these have one of four digits, which are too many for decimals.
func (r *reading) hasWholeNumbers() bool {
	const maxDecimals = 3
	for c := 1; c <= r.header; c++ {
		isLong := false
		for _, rec := range r.records[1:] {
			digits := bytes.TrimSpace(rec.Cells[c])
			if _, err := strconv.Atoi(string(digits)); err != nil && value.KindOf(digits) != value.Missing {
				return false
			}
			isLong = isLong || len(digits) > maxDecimals
		}
		if c > 1 && !isLong {
			return false
		}
	}
	return r.header > 2
}

// hasDecimals reports whether all columns but the first one, which has no numbers, and a column of
// text have numbers with decimal points, at least two of them: no value was split at a comma.
func (r *reading) hasDecimals() bool {
	texts, decimals := 0, 0
	for c := range r.header + 1 {
		k, _ := table.ColumnKind(r.records[1:], c)
		hasPoint := func(rec table.Row) bool { return bytes.IndexByte(rec.Cells[c], '.') >= 0 }
		switch {
		case c == 0 && k == value.Number:
			return false
		case c == 0:
		case k == value.Text:
			texts++
		case k == value.Number && slices.ContainsFunc(r.records[1:], hasPoint):
			decimals++
		}
	}
	return texts < 2 && decimals > 1 && texts+decimals == r.header
}
