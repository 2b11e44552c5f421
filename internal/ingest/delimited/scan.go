package delimited

import (
	"bytes"
	"io"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/layout"
	"herbarium/internal/ingest/rows"
)

// dialect is the way in which records are written. Quote is 0 if quotes are data, Delimiter if each line is one value.
type dialect struct {
	rows.Options
	blanks  bool         // runs of blanks and tabs separate values
	literal bool         // quotes that do not enclose a value are data
	lenient bool         // an escape before an ordinary character is data
	skip    map[int]bool // CommentRows
}

// scanner splits a text into records. It differs from encoding/csv: quoted values keep their line ends byte for byte, a
// lone carriage return ends a record, and errors name a remedy.
type scanner struct {
	win     *charset.Window
	d       dialect
	special [256]bool // bytes that end a value without quotes
	line    int       // of the current record
	next    int       // line of the next record
	gap     bool      // a blank line is above the current record
	size    int       // bytes of the current record
	width   int       // values of the current record
	spans   []span    // the first of those values
	cells   [][]byte
	columns int // of the table; 0: not known yet

	short     bool // the window ends within the record
	openEnded bool // the text ended within quotes
	unpaired  bool // no quote in the rest of the text closes a value
}

// span is a value in the window.
type span struct {
	start, end      int
	quoted, escaped bool
}

func (s *scanner) setDialect(d dialect) {
	s.d, s.special = d, [256]bool{'\r': true, '\n': true, ' ': d.blanks, '\t': d.blanks}
	for _, c := range []byte{d.Delimiter, d.Escape} {
		s.special[c] = s.special[c] || c != 0
	}
}

// record returns the values of the next record, without blank lines and comments. They are valid until the next call.
func (s *scanner) record() ([][]byte, error) {
	for s.gap = false; ; {
		s.advance()
		if head, _ := s.win.Sample(len(s.d.Comment)); s.d.skip[s.line] || s.d.Comment != "" && bytes.HasPrefix(head, []byte(s.d.Comment)) {
			if err := s.skipLine(); err != nil {
				return nil, err
			}
			continue
		}
		if err := s.split(s.scan); err != nil {
			return nil, err
		}
		raw := s.win.Bytes()[:s.size]
		s.next = s.line + charset.CountLines(raw)
		if len(s.spans) == 0 || len(s.spans) == 1 && s.spans[0] == (span{}) {
			s.gap = true // a blank line
			continue
		}
		s.cells = s.cells[:0]
		for _, v := range s.spans {
			cell := raw[v.start:v.end]
			if v.escaped || s.d.Null != "" {
				cell = s.value(cell, v)
			}
			s.cells = append(s.cells, cell)
		}
		return s.cells, nil
	}
}

// row returns the current record.
func (s *scanner) row() layout.Row {
	return layout.Row{Line: s.line, End: s.next - 1, Gap: s.gap, Cells: s.cells}
}

// advance moves to the next record.
func (s *scanner) advance() {
	s.win.Advance(s.size)
	s.line, s.size = s.next, 0
}

// skipLine skips a line regardless of quotes.
func (s *scanner) skipLine() error {
	err := s.split(func(buf []byte, last bool) (int, error) {
		line, _, _ := cutLine(buf)
		return s.endRecord(buf, len(line), last)
	})
	if err == nil {
		s.next++
	}
	return err
}

// cutLine returns the first line of b, and what follows its end if there is one.
func cutLine(b []byte) (line, rest []byte, found bool) {
	i := bytes.IndexAny(b, "\r\n")
	if i < 0 {
		return b, nil, false
	}
	if rest = b[i+1:]; b[i] == '\r' {
		rest = bytes.TrimPrefix(rest, []byte("\n"))
	}
	return b[:i], rest, true
}

// skipTo skips the lines before one. It returns io.EOF if there is no such line.
func (s *scanner) skipTo(line int) error {
	for s.next < line {
		s.advance()
		if err := s.skipLine(); err != nil {
			return err
		}
	}
	s.advance()
	return nil
}

// split sets the size of the record at the start of the window with a function that sets s.short if the record may continue
// after buf. Then the window is made longer and the record is scanned again, so that scanning need not deal with that. last
// reports that there is no more text.
func (s *scanner) split(scan func(buf []byte, last bool) (size int, err error)) (err error) {
	for last := false; ; last = !s.win.More() {
		s.short = false
		if s.size, err = scan(s.win.Bytes(), last); !s.short {
			return err
		}
	}
}

// endRecord returns the position after the line end at pos, which may be the end of the text.
func (s *scanner) endRecord(buf []byte, pos int, last bool) (size int, err error) {
	s.short = !last && (pos == len(buf) || buf[pos] == '\r' && pos+1 == len(buf))
	switch {
	case s.short:
		return 0, nil
	case pos == len(buf) && s.win.Err() != nil:
		return 0, s.failure(-1)
	case pos == len(buf) && pos == 0:
		return 0, io.EOF
	case pos == len(buf):
		return pos, nil
	case buf[pos] == '\r' && pos+1 < len(buf) && buf[pos+1] == '\n':
		return pos + 2, nil
	}
	return pos + 1, nil
}

// scan locates the values of the record at the start of buf, and the end of its line.
func (s *scanner) scan(buf []byte, last bool) (size int, err error) {
	s.spans, s.width = s.spans[:0], 0
	for pos := 0; ; pos++ { // a delimiter
		if s.d.SkipInitialSpace || s.d.blanks {
			for pos < len(buf) && (buf[pos] == ' ' || s.d.blanks && buf[pos] == '\t') {
				pos++
			}
		}
		switch {
		case pos < len(buf) && buf[pos] == s.d.Quote && s.d.Quote != 0:
			if pos, err = s.quotedValue(buf, pos, last); err != nil || s.short {
				return 0, err
			}
		case s.d.blanks && (pos == len(buf) || buf[pos] == '\n' || buf[pos] == '\r'): // blanks at the end of a line
		default:
			pos = s.plainValue(buf, pos)
		}
		if pos == len(buf) || buf[pos] == '\n' || buf[pos] == '\r' {
			return s.endRecord(buf, pos, last)
		}
	}
}

// plainValue locates the value without quotes at pos and returns the position after it.
func (s *scanner) plainValue(buf []byte, pos int) int {
	v := span{start: pos}
	for {
		for pos < len(buf) && !s.special[buf[pos]] {
			pos++
		}
		if pos == len(buf) || s.d.Escape == 0 || buf[pos] != s.d.Escape {
			break
		}
		v.escaped = true
		pos = min(pos+2, len(buf)) // the next byte does not end the value
	}
	v.end = pos
	s.add(v)
	return pos
}

// quotedValue locates the value whose opening quote is at pos and returns the position after its closing quote.
func (s *scanner) quotedValue(buf []byte, open int, last bool) (end int, err error) {
	v := span{start: open + 1, quoted: true}
	pos := open + 1
	for checked := !s.d.literal; ; {
		i := s.indexEscape(buf[pos:], true)
		if !checked && (i < 0 || bytes.ContainsAny(buf[pos:pos+i], "\r\n")) {
			if checked = true; s.isLiteral(buf, open, last) {
				return s.plainValue(buf, open), nil
			}
		}
		if s.short = s.short || !last && (i < 0 || pos+i+1 == len(buf)); s.short {
			return 0, nil
		}
		if i < 0 {
			if !s.d.literal || s.win.Err() != nil {
				return 0, s.failure(open)
			}
			s.unpaired = true
			return s.plainValue(buf, open), nil
		}
		pos += i + 1
		isQuote := buf[pos-1] == s.d.Quote
		if isQuote && (pos == len(buf) || buf[pos] != s.d.Quote || s.d.NoDoubleQuote) {
			break
		}
		v.escaped = true
		pos = min(pos+1, len(buf))
	}
	v.end = pos - 1
	if pos < len(buf) && (!s.special[buf[pos]] || buf[pos] == s.d.Escape) {
		if s.d.literal {
			return s.plainValue(buf, open), nil
		}
		q := string(rune(s.d.Quote))
		return 0, herb.Invalidf("line %d: text follows the closing quote of a value; write a quote inside a value twice (%s)",
			s.line+charset.CountLines(buf[:pos]), q+q)
	}
	s.add(v)
	return pos, nil
}

// literalLines is the number of lines that isLiteral examines.
const literalLines = 100

// isLiteral reports whether the quote at open, which is not closed in its line, is data. It is if every line up to the one
// with the next quote has as many values as the table has columns.
func (s *scanner) isLiteral(buf []byte, open int, last bool) bool {
	if s.columns == 0 || s.unpaired {
		return s.unpaired
	}
	rest := buf[1+bytes.LastIndexAny(buf[:open], "\r\n"):]
	before := open - (len(buf) - len(rest)) // bytes of the line before the quote
	for n := range literalLines {
		line, after, found := cutLine(rest)
		if s.short = !found && !last; s.short || !found && s.win.Err() != nil {
			return false
		}
		if 1+bytes.Count(line, []byte{s.d.Delimiter}) != s.columns {
			return n > 0 && len(rest) == 0 // the end of the text
		}
		if n == 0 {
			line = line[before+1:]
		}
		if bytes.IndexByte(line, s.d.Quote) >= 0 {
			return n > 0
		}
		if !found {
			return true
		}
		rest = after
	}
	return true
}

// add appends a value to the record. Values beyond the largest possible table are only counted.
func (s *scanner) add(v span) {
	if s.width++; s.width <= rows.MaxColumns {
		s.spans = append(s.spans, v)
	}
}

// value returns a value without its escapes, which it removes in place, and an empty one for the null value.
func (s *scanner) value(b []byte, v span) []byte {
	out := b[:0]
	if s.d.Null != "" && string(b) == s.d.Null {
		return out
	}
	for v.escaped {
		i := s.indexEscape(b, v.quoted)
		if i < 0 || i+1 >= len(b) {
			break
		}
		out = append(out, b[:i]...)
		if c := b[i+1]; b[i] == s.d.Escape && s.d.lenient && !s.special[c] && c != s.d.Quote {
			out = append(out, b[i])
		}
		out = append(out, b[i+1])
		b = b[i+2:]
	}
	return append(out, b...)
}

// indexEscape returns the position of the first escape in b, or quote if the value is quoted, -1 if there is none.
func (s *scanner) indexEscape(b []byte, quoted bool) int {
	switch {
	case !quoted:
		return bytes.IndexByte(b, s.d.Escape)
	case s.d.Escape == 0 || s.d.Escape == s.d.Quote:
		return bytes.IndexByte(b, s.d.Quote)
	}
	return bytes.IndexAny(b, string([]byte{s.d.Quote, s.d.Escape}))
}

// filled returns the number of values of the current record up to the last that is not empty.
func (s *scanner) filled() int {
	if s.width > len(s.cells) {
		return s.width
	}
	return s.row().Width()
}

// failure returns the reason why the window did not grow although the record has no end. open is the position of an
// unclosed quote, -1 if there is none.
func (s *scanner) failure(open int) error {
	buf := s.win.Bytes()
	quoteLine := s.line + charset.CountLines(buf[:max(open, 0)])
	switch err := s.win.Err(); {
	case err == charset.ErrTooLong && open >= 0:
		return herb.Invalidf("line %d: the record is longer than %d bytes; is the quote opened in line %d never closed?", s.line, len(buf), quoteLine)
	case err == charset.ErrTooLong:
		return herb.Invalidf("line %d: the record is longer than %d bytes, the maximum", s.line, len(buf))
	case err != nil:
		return err
	}
	s.openEnded = true
	return herb.Invalidf("line %d: the quote opened here is never closed; end the value with a quote", quoteLine)
}
