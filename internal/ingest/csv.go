package ingest

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"herbarium/internal/herb"
)

// csvReader reads delimited text as RFC 4180 describes it, or as a dialect does. It differs from encoding/csv in that
// quoted values keep their line ends byte for byte, a lone carriage return ends a record, and errors say what would be
// right.
type csvReader struct {
	win     *window
	d       oldDialect // with a Delimiter of 0 there is none, and each line is one value
	quote   byte       // around values, if quoting
	quoting bool       // values can have quotes around them
	special [256]bool  // the bytes that end a value without quotes
	skip    map[int]bool
	header  []string
	first   bool   // the record read last, which was to name the columns, is still to be returned
	line    int    // where the record read last begins
	ahead   int    // where the next one begins
	size    int    // bytes of the record read last
	width   int    // values of the record read last
	spans   []span // those values, as far as they can have a column
	cells   [][]byte

	openEnded   bool // the text ended within quotes
	surplus     int  // records with empty values behind their last column
	surplusLine int  // of the first of them
}

// span is a value in the window. One with escapes is still to be undone.
type span struct {
	start, end int
	escaped    bool
}

// newCSVReader reads the header. What the dialect leaves open is found in the first records. names are those of the
// columns where the text has none.
func newCSVReader(src io.Reader, d oldDialect, names []string, limit int) (*csvReader, error) {
	c := &csvReader{win: newWindow(src, limit), ahead: 1}
	c.setDialect(d)
	if err := c.separatorLine(); err != nil {
		return nil, err
	}
	if len(d.HeaderRows) > 0 && !d.NoHeader {
		if err := c.skipTo(d.HeaderRows[0]); err != nil {
			return nil, err
		}
	}
	if c.d.Delimiter == 0 || d.Quote == 0 && !d.NoQuote {
		c.setDialect(c.sniff())
	}
	return c, c.readHeader(names)
}

// setDialect takes over how the text is written.
func (c *csvReader) setDialect(d oldDialect) {
	c.d, c.quote, c.quoting, c.special, c.skip = d, d.Quote, !d.NoQuote, [256]bool{'\r': true, '\n': true}, nil
	if c.quote == 0 {
		c.quote = '"'
	}
	for _, b := range []byte{d.Delimiter, d.Escape} {
		if b != 0 {
			c.special[b] = true
		}
	}
	for _, n := range d.CommentRows {
		if c.skip == nil {
			c.skip = map[int]bool{}
		}
		c.skip[n] = true
	}
}

// columns implements rowReader.
func (c *csvReader) columns() []string { return c.header }

// position implements rowReader.
func (c *csvReader) position() string { return "line " + strconv.Itoa(c.line) }

// notes tells what a publisher should know.
func (c *csvReader) notes() []string {
	if c.surplus == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d records, the first in line %d, have more values than there are columns; what is beyond is empty "+
		"and left out", c.surplus, c.surplusLine)}
}

// next implements rowReader.
func (c *csvReader) next() ([][]byte, error) {
	cells, err := c.cells, error(nil)
	if !c.first {
		cells, err = c.record()
	}
	c.first = false
	if err != nil || c.width <= len(c.header) {
		return cells, err
	}
	if c.filled() > len(c.header) {
		return nil, c.tooMany()
	}
	if c.surplus++; c.surplus == 1 {
		c.surplusLine = c.line
	}
	return cells[:len(c.header)], nil
}

func (c *csvReader) tooMany() error {
	names := "the header names"
	if c.d.NoHeader {
		names = "the first record has"
	}
	hint := ""
	if !c.d.NoHeader && len(c.d.HeaderRows) == 0 && len(c.header) < c.width {
		hint = ", or say which line names the columns if it is not the first"
	}
	return herb.Invalidf("line %d: there are %d values but %s %d columns; put quotes around a value that contains %q%s",
		c.line, c.width, names, len(c.header), string(rune(c.d.Delimiter)), hint)
}

// record returns the values of the next record that is no blank line and no comment. They are valid until the next call.
func (c *csvReader) record() ([][]byte, error) {
	for {
		c.win.advance(c.size)
		c.win.advance(c.blankLines())
		c.line, c.size = c.ahead, 0
		if c.isComment() {
			if err := c.skipLine(); err != nil {
				return nil, err
			}
			continue
		}
		size, lines, err := c.scan()
		if err != nil {
			return nil, err
		}
		c.size = size
		raw := c.win.bytes()[:size]
		c.ahead++
		if lines {
			c.ahead = c.line + countLines(raw)
		}
		if len(c.spans) == 1 && c.spans[0] == (span{}) {
			continue // a blank line: an empty value in quotes would begin behind its quote
		}
		c.cells = c.cells[:0]
		for _, s := range c.spans {
			c.cells = append(c.cells, c.value(raw, s))
		}
		return c.cells, nil
	}
}

// blankLines returns how many bytes of blank lines are at the beginning of the window. It is there for files of nothing
// else: a blank line is no record in any case.
func (c *csvReader) blankLines() int {
	rec := c.win.bytes()
	n := 0
	for n < len(rec) && (rec[n] == '\n' || rec[n] == '\r') {
		n++
	}
	if n > 0 && n == len(rec) && rec[n-1] == '\r' {
		n-- // a line feed may belong to it
	}
	if n > 0 {
		c.ahead += countLines(rec[:n])
	}
	return n
}

// value undoes the escapes of a value, in place, and empties one that stands for a missing one.
func (c *csvReader) value(raw []byte, s span) []byte {
	cell := raw[s.start:s.end]
	if c.d.Null != "" && string(cell) == c.d.Null {
		return cell[:0]
	}
	if !s.escaped {
		return cell
	}
	if c.d.Escape == 0 {
		cell = undouble(cell, c.quote)
	} else {
		cell = c.unescape(cell, c.isQuoted(raw, s))
	}
	if c.d.Null != "" && string(cell) == c.d.Null {
		return cell[:0]
	}
	return cell
}

// isQuoted reports whether a value is in quotes.
func (c *csvReader) isQuoted(raw []byte, s span) bool {
	return c.quoting && s.start > 0 && raw[s.start-1] == c.quote
}

// unescape takes the escape characters out, and in a quoted value makes one quote of each two.
func (c *csvReader) unescape(b []byte, quoted bool) []byte {
	out := b[:0]
	for i := 0; i < len(b); i++ {
		if i+1 < len(b) && (b[i] == c.d.Escape || quoted && b[i] == c.quote) {
			i++
		}
		out = append(out, b[i])
	}
	return out
}

// isComment reports whether the line at the beginning of the window is none of records.
func (c *csvReader) isComment() bool {
	if c.skip[c.line] {
		return true
	}
	if c.d.Comment == "" {
		return false
	}
	head, _ := c.win.sample(len(c.d.Comment))
	return bytes.HasPrefix(head, []byte(c.d.Comment))
}

// skipLine passes over a line, whatever is in it.
func (c *csvReader) skipLine() error {
	pos, rec := 0, c.win.bytes()
	for {
		if i := bytes.IndexAny(rec[pos:], "\r\n"); i >= 0 {
			pos += i
			break
		}
		pos = len(rec)
		if !c.win.more() {
			if c.win.failed != nil {
				return c.failure(-1)
			}
			if pos == 0 {
				return io.EOF
			}
			c.size = pos
			c.ahead++
			return nil
		}
		rec = c.win.bytes()
	}
	c.size, _ = c.lineEnd(pos)
	c.ahead++
	return nil
}

// lineEnd returns the position behind the line end at pos.
func (c *csvReader) lineEnd(pos int) (int, []byte) {
	rec := c.win.bytes()
	pos++
	if rec[pos-1] == '\n' {
		return pos, rec
	}
	if pos == len(rec) { // a carriage return, alone or before a line feed
		c.win.more()
		rec = c.win.bytes()
	}
	if pos < len(rec) && rec[pos] == '\n' {
		pos++
	}
	return pos, rec
}

// scan finds the extent of the record at the beginning of the window, line end included, and its values. lines says
// whether there may be line ends in it.
func (c *csvReader) scan() (size int, lines bool, err error) {
	c.spans, c.width = c.spans[:0], 0
	pos, rec := 0, c.win.bytes()
	for {
		if pos == len(rec) {
			more := c.win.more()
			if rec = c.win.bytes(); !more && pos == 0 && c.win.failed == nil {
				return 0, false, io.EOF
			}
		}
		if c.d.SkipInitialSpace {
			pos, rec = c.skipBlanks(pos)
		}
		if c.quoting && pos < len(rec) && rec[pos] == c.quote {
			lines = true
			if pos, err = c.quotedValue(pos); err != nil {
				return 0, false, err
			}
		} else {
			var escaped bool
			pos, escaped = c.plainValue(pos)
			lines = lines || escaped
		}
		rec = c.win.bytes()
		switch {
		case pos == len(rec) && c.win.failed != nil:
			return 0, false, c.failure(-1)
		case pos == len(rec):
			return pos, lines, nil
		case rec[pos] == '\n' || rec[pos] == '\r':
			pos, _ = c.lineEnd(pos)
			return pos, lines, nil
		}
		pos++ // the delimiter
	}
}

// skipBlanks passes over blanks at the beginning of a value.
func (c *csvReader) skipBlanks(pos int) (int, []byte) {
	rec := c.win.bytes()
	for {
		for pos < len(rec) && rec[pos] == ' ' {
			pos++
		}
		if pos < len(rec) || !c.win.more() {
			return pos, c.win.bytes()
		}
		rec = c.win.bytes()
	}
}

// plainValue finds the value without quotes at pos and returns the position behind it.
func (c *csvReader) plainValue(pos int) (end int, escaped bool) {
	rec := c.win.bytes()
	s := span{start: pos}
	for {
		for pos < len(rec) && !c.special[rec[pos]] {
			pos++
		}
		if pos < len(rec) && c.d.Escape != 0 && rec[pos] == c.d.Escape {
			s.escaped = true
			pos++ // the byte behind it does not end the value
			if pos == len(rec) && c.win.more() {
				rec = c.win.bytes()
			}
			if pos < len(rec) {
				pos++
			}
			continue
		}
		if pos < len(rec) || !c.win.more() {
			break
		}
		rec = c.win.bytes()
	}
	s.end = pos
	c.add(s)
	return pos, s.escaped
}

// quotedValue finds the value whose opening quote is at pos and returns the position behind its closing one.
func (c *csvReader) quotedValue(pos int) (int, error) {
	open := pos
	rec := c.win.bytes()
	s := span{start: pos + 1}
	pos++
	for {
		i := c.quoteOrEscape(rec[pos:])
		if i < 0 {
			pos = len(rec)
			if !c.win.more() {
				return 0, c.failure(open)
			}
			rec = c.win.bytes()
			continue
		}
		pos += i + 1
		if pos == len(rec) && c.win.more() {
			rec = c.win.bytes()
		}
		if rec[pos-1] != c.quote { // an escape
			s.escaped = true
			pos = min(pos+1, len(rec))
			continue
		}
		if pos == len(rec) || rec[pos] != c.quote || c.d.NoDoubleQuote {
			break
		}
		s.escaped = true
		pos++
	}
	s.end = pos - 1
	c.add(s)
	if pos < len(rec) && (!c.special[rec[pos]] || rec[pos] == c.d.Escape) {
		q := string(rune(c.quote))
		return 0, herb.Invalidf("line %d: text follows the closing quote of a value; write a quote inside a value twice (%s)",
			c.line+countLines(rec[:pos]), q+q)
	}
	return pos, nil
}

// quoteOrEscape returns the position of the first of either in b, -1 if there is none. An escape that is the quote itself
// is no other way to write two of them.
func (c *csvReader) quoteOrEscape(b []byte) int {
	i := bytes.IndexByte(b, c.quote)
	if c.d.Escape == 0 || c.d.Escape == c.quote {
		return i
	}
	if i >= 0 {
		b = b[:i]
	}
	if k := bytes.IndexByte(b, c.d.Escape); k >= 0 {
		return k
	}
	return i
}

// add takes up a value of the record. Those beyond any header are only counted: a record of nothing but delimiters must
// not need many times its size.
func (c *csvReader) add(s span) {
	if c.width++; c.width <= MaxColumns {
		c.spans = append(c.spans, s)
	}
}

// failure says why the window did not grow although the record has no end. open is where its unfinished quote begins,
// -1 if there is none.
func (c *csvReader) failure(open int) error {
	quoteLine := c.line
	if open >= 0 {
		quoteLine += countLines(c.win.bytes()[:open])
	}
	switch {
	case c.win.failed == errRecordTooLong && open >= 0:
		return herb.Invalidf("line %d: the record is longer than %d bytes; is the quote opened in line %d never closed?",
			c.line, c.win.max, quoteLine)
	case c.win.failed == errRecordTooLong:
		return herb.Invalidf("line %d: the record is longer than %d bytes, which is the most that one may have", c.line, c.win.max)
	case c.win.failed != nil:
		return c.win.failed
	default:
		c.openEnded = true
		return herb.Invalidf("line %d: the quote opened here is never closed; end the value with a quote", quoteLine)
	}
}

// countLines counts the line ends in b. A carriage return followed by a line feed is one.
func countLines(b []byte) int {
	n := bytes.Count(b, []byte{'\n'})
	if cr := bytes.Count(b, []byte{'\r'}); cr > 0 {
		n += cr - bytes.Count(b, []byte("\r\n"))
	}
	return n
}

// undouble makes one quote of each two, in place.
func undouble(b []byte, quote byte) []byte {
	out := b[:0]
	for {
		i := bytes.IndexByte(b, quote)
		if i < 0 {
			return append(out, b...)
		}
		out = append(out, b[:i+1]...)
		b = b[i+2:]
	}
}
