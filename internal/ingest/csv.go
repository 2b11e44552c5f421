package ingest

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"herbarium/internal/herb"
)

// csvReader reads delimited text as RFC 4180 describes it. It differs from encoding/csv in that quoted values keep their
// line ends byte for byte, a lone carriage return ends a record, and errors say what would be right.
type csvReader struct {
	win     *window
	comma   byte
	special [256]bool // the bytes that end a value without quotes
	header  []string
	line    int    // where the record read last begins
	ahead   int    // where the next one begins
	size    int    // bytes of the record read last
	width   int    // values of the record read last
	spans   []span // those values, as far as they can have a column
	cells   [][]byte
}

// span is a value in the window. One with escapes is still to be undone.
type span struct {
	start, end int
	escaped    bool
}

// newCSVReader reads the header. A delimiter of 0 is found there.
func newCSVReader(src io.Reader, delimiter byte, limit int) (*csvReader, error) {
	c := &csvReader{win: newWindow(src, limit), comma: delimiter, ahead: 1}
	if err := c.win.skipBOM(); err != nil {
		return nil, err
	}
	if c.comma == 0 {
		c.comma = c.sniff()
	}
	c.special['\r'], c.special['\n'], c.special[c.comma] = true, true, true
	names, err := c.record()
	switch {
	case err == io.EOF:
		return nil, herb.Invalidf("the file is empty; its first line must name the columns")
	case err != nil:
		return nil, err
	case c.width > MaxColumns:
		return nil, herb.Invalidf("line %d: the header has %d columns; at most %d are possible", c.line, c.width, MaxColumns)
	}
	c.header = make([]string, len(names))
	for i, n := range names {
		c.header[i] = strings.TrimSpace(string(n))
	}
	return c, nil
}

// columns implements rowReader.
func (c *csvReader) columns() []string { return c.header }

// position implements rowReader.
func (c *csvReader) position() string { return "line " + strconv.Itoa(c.line) }

// next implements rowReader.
func (c *csvReader) next() ([][]byte, error) {
	cells, err := c.record()
	if err == nil && c.width > len(c.header) {
		err = herb.Invalidf("line %d: there are %d values but the header names %d columns; "+
			"put quotes around a value that contains %q", c.line, c.width, len(c.header), string(rune(c.comma)))
	}
	return cells, err
}

// record returns the values of the next record that is not a blank line. They are valid until the next call.
func (c *csvReader) record() ([][]byte, error) {
	for {
		c.win.advance(c.size)
		c.line, c.size = c.ahead, 0
		size, quoted, err := c.scan()
		if err != nil {
			return nil, err
		}
		c.size = size
		raw := c.win.bytes()[:size]
		c.ahead++
		if quoted {
			c.ahead = c.line + countLines(raw)
		}
		if len(c.spans) == 1 && c.spans[0] == (span{}) {
			continue // a blank line: an empty value in quotes would begin behind its quote
		}
		if i := invalidUTF8(raw); i >= 0 {
			return nil, herb.Invalidf("line %d: invalid UTF-8 at byte %d of the file; save it as UTF-8",
				c.line+countLines(raw[:i]), c.win.offset()+int64(i))
		}
		c.cells = c.cells[:0]
		for _, s := range c.spans {
			cell := raw[s.start:s.end]
			if s.escaped {
				cell = undouble(cell)
			}
			c.cells = append(c.cells, cell)
		}
		return c.cells, nil
	}
}

// scan finds the extent of the record at the beginning of the window, line end included, and its values.
func (c *csvReader) scan() (size int, quoted bool, err error) {
	c.spans, c.width = c.spans[:0], 0
	rec := c.win.bytes()
	pos := 0
	more := func() bool {
		ok := c.win.more()
		rec = c.win.bytes()
		return ok
	}
	for {
		if pos == len(rec) && !more() && c.win.failed == nil && pos == 0 {
			return 0, false, io.EOF
		}
		if pos < len(rec) && rec[pos] == '"' {
			quoted = true
			if pos, err = c.quotedValue(pos); err != nil {
				return 0, false, err
			}
			rec = c.win.bytes()
		} else {
			start := pos
			for {
				for pos < len(rec) && !c.special[rec[pos]] {
					pos++
				}
				if pos < len(rec) || !more() {
					break
				}
			}
			c.add(span{start: start, end: pos})
		}
		if c.win.failed != nil && pos == len(rec) {
			return 0, false, c.failure(-1)
		}
		if pos == len(rec) {
			return pos, quoted, nil
		}
		switch rec[pos] {
		case c.comma:
			pos++
		case '\n':
			return pos + 1, quoted, nil
		default: // a carriage return, alone or before a line feed
			pos++
			if (pos < len(rec) || more()) && rec[pos] == '\n' {
				pos++
			}
			return pos, quoted, nil
		}
	}
}

// quotedValue finds the value whose opening quote is at pos and returns the position behind its closing one.
func (c *csvReader) quotedValue(pos int) (int, error) {
	open := pos
	rec := c.win.bytes()
	s := span{start: pos + 1}
	pos++
	for {
		i := bytes.IndexByte(rec[pos:], '"')
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
		if pos == len(rec) || rec[pos] != '"' {
			break
		}
		s.escaped = true
		pos++
	}
	s.end = pos - 1
	c.add(s)
	if pos < len(rec) && !c.special[rec[pos]] {
		return 0, herb.Invalidf("line %d: text follows the closing quote of a value; write a quote inside a value twice (\"\")",
			c.line+countLines(rec[:pos]))
	}
	return pos, nil
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
		return herb.Invalidf("line %d: the quote opened here is never closed; end the value with a quote", quoteLine)
	}
}

// sniff finds the delimiter in the header: a comma unless there is none and another usual one is there.
func (c *csvReader) sniff() byte {
	const candidates = ",;\t|"
	var counts [len(candidates)]int
	rec := c.win.bytes()
	fresh, quoted, content := true, false, false // fresh: a quote here would open a value, or is the second of a doubled one
scan:
	for pos := 0; ; pos++ {
		if pos == len(rec) {
			if !c.win.more() {
				break
			}
			rec = c.win.bytes()
		}
		b := rec[pos]
		switch {
		case quoted:
			quoted = b != '"'
			fresh = true
		case b == '"' && fresh:
			quoted, content = true, true
		case b == '\n' || b == '\r':
			if content {
				break scan
			}
		default:
			i := strings.IndexByte(candidates, b)
			if i >= 0 {
				counts[i]++
			}
			fresh, content = i >= 0, true
		}
	}
	if counts[0] > 0 {
		return ','
	}
	best := 0
	for i, n := range counts {
		if n > counts[best] {
			best = i
		}
	}
	return candidates[best]
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
func undouble(b []byte) []byte {
	out := b[:0]
	for {
		i := bytes.IndexByte(b, '"')
		if i < 0 {
			return append(out, b...)
		}
		out = append(out, b[:i+1]...)
		b = b[i+2:]
	}
}
