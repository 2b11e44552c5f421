package ingest

import (
	"bytes"
	"slices"
)

// The sample in which is found how delimited text is written. It is made longer when the lines are.
const (
	sampleBytes     = 64 << 10
	longSampleBytes = 1 << 20
	sampleRecords   = 100
)

// sniff finds the delimiter and the quote that the dialect leaves open, in the records at the beginning of the window. All
// are tried, and what gives records of the same length is right:
//
//   - A delimiter must be in the header. Of several, the one wins that splits the largest part of the records into as many
//     values as the header has, times the columns that it makes; of equals the first of comma, semicolon, tab and bar.
//   - One that splits some records into more values than the header has, and more than half into another number, is none:
//     a column of addresses is not torn apart at its commas. But when all records have the same number of values the
//     header is at fault, and reading on will say so.
//   - Others (^ ~ and the control characters 1 and 31) are taken if they split everything evenly.
//   - Without any, each line is one value.
//   - The quote is a single one if no value begins with a double one, all that begin with a single one end with it, and
//     either all names in the header have it around them or it is what protects a delimiter or a line end.
func (c *csvReader) sniff() oldDialect {
	sample, all := c.win.sample(sampleBytes)
	if !all && bytes.Count(sample, []byte{'\n'})+bytes.Count(sample, []byte{'\r'}) < 10 {
		sample, all = c.win.sample(longSampleBytes)
	}
	s := sniffer{sample, all, c.ahead}
	double := s.delimiter(c.d)
	if c.d.Quote != 0 || c.d.NoQuote || double.quoted > 0 || bytes.IndexByte(sample, '\'') < 0 {
		return double.dialect
	}
	d := c.d
	d.Quote = '\''
	single := s.delimiter(d)
	if single.quoted > 1 && !single.broken && (single.quotedHeader || single.protects) && single.score() >= double.score() {
		return single.dialect
	}
	return double.dialect
}

// sniffer tries dialects on the beginning of a text.
type sniffer struct {
	sample []byte
	all    bool // the sample is the whole text
	line   int  // where it begins
}

// attempt is what the sample looks like in a dialect.
type attempt struct {
	dialect      oldDialect
	header       int  // values of the first record
	records      int  // those behind it
	fitting      int  // records with as many values as the header
	exceeding    int  // records with more
	width        int  // values of the record behind the header
	even         int  // records with as many as that one
	quoted       int  // values in quotes
	quotedHeader bool // all names are in quotes
	protects     bool // quotes are around a delimiter or a line end
	broken       bool // a quote is not closed as it should be
}

// delimiter finds the best dialect, if its delimiter is not given.
func (s sniffer) delimiter(d oldDialect) attempt {
	if d.Delimiter != 0 {
		return s.try(d, d.Delimiter)
	}
	var usual []attempt
	for _, b := range []byte(",;\t|") {
		usual = append(usual, s.try(d, b))
	}
	best := -1
	for i, a := range usual {
		if a.plausible() && (best < 0 || a.betterThan(usual[best])) {
			best = i
		}
	}
	if best >= 0 {
		return usual[best]
	}
	for _, b := range []byte("^~\x01\x1f") {
		if a := s.try(d, b); a.header > 1 && a.records > 0 && a.fitting == a.records && !a.broken {
			return a
		}
	}
	for _, a := range usual {
		if a.records > 0 && a.width > 1 && a.even == a.records && !(a.dialect.Delimiter == ',' && s.prose()) {
			return a
		}
	}
	if usual[0].header == 0 {
		return usual[0] // the error is in the header
	}
	return s.try(d, 0)
}

// plausible reports whether the delimiter can be one.
func (a attempt) plausible() bool {
	return a.header > 1 && (a.exceeding == 0 || 2*a.fitting >= a.records)
}

func (a attempt) betterThan(b attempt) bool {
	if a.broken != b.broken {
		return b.broken
	}
	return a.score() > b.score()
}

// score tells how well the records fit the header. Where there are none, a comma is taken for the delimiter.
func (a attempt) score() float64 {
	switch {
	case a.records > 0:
		return float64(a.fitting) / float64(a.records) * float64(a.header-1)
	case a.dialect.Delimiter == ',':
		return MaxColumns
	default:
		return float64(a.header - 1)
	}
}

// prose reports whether a blank follows every comma, as it does in sentences and addresses.
func (s sniffer) prose() bool {
	return bytes.Count(s.sample, []byte(",")) == bytes.Count(s.sample, []byte(", "))
}

// try reads the sample with a delimiter.
func (s sniffer) try(d oldDialect, delimiter byte) attempt {
	d.Delimiter = delimiter
	a := attempt{dialect: d}
	c := &csvReader{win: &window{buf: slices.Clone(s.sample), max: len(s.sample), done: true}, ahead: s.line}
	c.setDialect(d)
	for n := range 1 + sampleRecords {
		_, err := c.record()
		rest := c.win.bytes()
		if err != nil {
			a.broken = len(rest) > 0 && (s.all || !c.openEnded)
			break
		}
		if n > 0 && !s.all && c.size == len(rest) {
			break // it may go on
		}
		a.observe(c, n == 0)
	}
	return a
}

// observe takes a record into account.
func (a *attempt) observe(c *csvReader, header bool) {
	raw, quoted := c.win.bytes(), 0
	for _, s := range c.spans {
		if !c.isQuoted(raw, s) {
			continue
		}
		quoted++
		value := raw[s.start:s.end]
		a.protects = a.protects || bytes.ContainsAny(value, "\r\n") || a.dialect.Delimiter != 0 && bytes.IndexByte(value, a.dialect.Delimiter) >= 0
	}
	a.quoted += quoted
	if header {
		a.header = c.width
		a.quotedHeader = quoted == c.width
		return
	}
	if a.records++; a.records == 1 {
		a.width = c.width
	}
	if c.width == a.width {
		a.even++
	}
	switch filled := c.filled(); {
	case filled > a.header:
		a.exceeding++
	case c.width >= a.header:
		a.fitting++
	}
}

// filled returns how many values the record read last has up to its last that is not empty.
func (c *csvReader) filled() int {
	n := len(c.cells)
	if c.width > n {
		return c.width
	}
	for n > 0 && len(c.cells[n-1]) == 0 {
		n--
	}
	return n
}
