package delimited

import (
	"bytes"
	"io"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
)

// dialect is the way in which records are written.
type dialect struct {
	delimiter  byte // 0: each line is one value
	blanks     bool // runs of blanks and tabs separate values
	quote      byte // 0: quotes are data
	doubled    bool // two quotes in a quoted value are one
	literal    bool // quotes that do not enclose a value are data
	escape     byte // 0: none
	lenient    bool // an escape before an ordinary character is data
	skipBlanks bool // blanks after a delimiter are not data
	null       string
	comment    string // prefix of lines that are not records
	skip       map[int]bool
}

// scanner splits a text into records. It differs from encoding/csv: quoted values keep their line ends byte for byte, a
// lone carriage return ends a record, and errors name a remedy.
type scanner struct {
	win     *charset.Window
	d       dialect
	special [256]bool // bytes that end a value without quotes
	line    int       // of the current record
	next    int       // line of the next record
	size    int       // bytes of the current record
	width   int       // values of the current record
	spans   []span    // the first of those values
	cells   [][]byte
	columns int // of the table; 0: not known yet

	openEnded bool // the text ended within quotes
	unpaired  bool // no quote in the rest of the text closes a value
}

// span is a value in the window.
type span struct {
	start, end int
	escaped    bool
}

func (s *scanner) setDialect(d dialect) {
	s.d, s.special = d, [256]bool{'\r': true, '\n': true}
	if d.blanks {
		s.special[' '], s.special['\t'] = true, true
	}
	if d.delimiter != 0 {
		s.special[d.delimiter] = true
	}
	if d.escape != 0 {
		s.special[d.escape] = true
	}
}

// record returns the values of the next record, without blank lines and comments. They are valid until the next call.
func (s *scanner) record() ([][]byte, error) {
	for {
		s.win.Advance(s.size)
		s.win.Advance(s.blankLines())
		s.line, s.size = s.next, 0
		if s.isComment() {
			if err := s.skipLine(); err != nil {
				return nil, err
			}
			continue
		}
		size, multiline, err := s.scan()
		if err != nil {
			return nil, err
		}
		s.size = size
		raw := s.win.Bytes()[:size]
		s.next++
		if multiline {
			s.next = s.line + charset.CountLines(raw)
		}
		if len(s.spans) == 0 || len(s.spans) == 1 && s.spans[0] == (span{}) {
			continue // a blank line; an empty value in quotes does not begin at 0
		}
		s.cells = s.cells[:0]
		for _, v := range s.spans {
			cell := raw[v.start:v.end]
			if v.escaped || s.d.null != "" {
				cell = s.value(raw, v)
			}
			s.cells = append(s.cells, cell)
		}
		return s.cells, nil
	}
}

// blankLines returns the number of bytes of blank lines at the start of the window.
func (s *scanner) blankLines() int {
	rec := s.win.Bytes()
	n := 0
	for n < len(rec) && (rec[n] == '\n' || rec[n] == '\r') {
		n++
	}
	if n > 0 && n == len(rec) && rec[n-1] == '\r' {
		n-- // a line feed may follow
	}
	if n > 0 {
		s.next += charset.CountLines(rec[:n])
	}
	return n
}

// value removes the escapes of a value, in place, and returns an empty one for the null value.
func (s *scanner) value(raw []byte, v span) []byte {
	cell := raw[v.start:v.end]
	if s.d.null != "" && string(cell) == s.d.null {
		return cell[:0]
	}
	if v.escaped {
		cell = s.unescape(cell, s.isQuoted(raw, v))
	}
	if s.d.null != "" && string(cell) == s.d.null {
		return cell[:0]
	}
	return cell
}

func (s *scanner) isQuoted(raw []byte, v span) bool {
	return s.d.quote != 0 && v.start > 0 && raw[v.start-1] == s.d.quote
}

// unescape removes escape characters and, in a quoted value, the first of two quotes.
func (s *scanner) unescape(b []byte, quoted bool) []byte {
	out := b[:0]
	for {
		i := s.indexEscape(b, quoted)
		if i < 0 || i+1 >= len(b) {
			return append(out, b...)
		}
		out = append(out, b[:i]...)
		if c := b[i+1]; b[i] == s.d.escape && s.d.lenient && !s.special[c] && c != s.d.quote {
			out = append(out, b[i])
		}
		out = append(out, b[i+1])
		b = b[i+2:]
	}
}

// indexEscape returns the position of the first escape in b, or quote if the value is quoted, -1 if there is none.
func (s *scanner) indexEscape(b []byte, quoted bool) int {
	i := -1
	if quoted {
		i = bytes.IndexByte(b, s.d.quote)
	}
	if s.d.escape == 0 || s.d.escape == s.d.quote {
		return i
	}
	if i >= 0 {
		b = b[:i]
	}
	if k := bytes.IndexByte(b, s.d.escape); k >= 0 {
		return k
	}
	return i
}

// isComment reports whether the line at the start of the window is not a record.
func (s *scanner) isComment() bool {
	if s.d.comment == "" {
		return s.d.skip[s.line]
	}
	head, _ := s.win.Sample(len(s.d.comment))
	return s.d.skip[s.line] || bytes.HasPrefix(head, []byte(s.d.comment))
}

// skipLine skips a line regardless of quotes.
func (s *scanner) skipLine() error {
	end, ok := s.indexLineEnd(0)
	switch {
	case !ok:
		return s.failure(-1)
	case end < len(s.win.Bytes()):
		s.size = s.lineEnd(end)
	case end == 0:
		return io.EOF
	default:
		s.size = end
	}
	s.next++
	return nil
}

// skipTo skips the lines before one. It returns io.EOF if there is no such line.
func (s *scanner) skipTo(line int) error {
	for s.next < line {
		s.win.Advance(s.size)
		s.line, s.size = s.next, 0
		if err := s.skipLine(); err != nil {
			return err
		}
	}
	s.win.Advance(s.size)
	s.size = 0
	return nil
}

// lineEnd returns the position after the line end at pos.
func (s *scanner) lineEnd(pos int) int {
	rec := s.win.Bytes()
	pos++
	if rec[pos-1] == '\n' {
		return pos
	}
	if pos == len(rec) { // a carriage return, alone or before a line feed
		s.win.More()
		rec = s.win.Bytes()
	}
	if pos < len(rec) && rec[pos] == '\n' {
		pos++
	}
	return pos
}

// scan locates the end of the record at the start of the window, including its line end, and its values. multiline reports
// whether it may contain line ends.
func (s *scanner) scan() (size int, multiline bool, err error) {
	s.spans, s.width = s.spans[:0], 0
	pos, rec := 0, s.win.Bytes()
	for {
		if pos == len(rec) {
			more := s.win.More()
			if rec = s.win.Bytes(); !more && pos == 0 && s.win.Err() == nil {
				return 0, false, io.EOF
			}
		}
		if s.d.skipBlanks || s.d.blanks {
			pos = s.skipSpaces(pos)
			rec = s.win.Bytes()
		}
		switch {
		case s.d.blanks && (pos == len(rec) || rec[pos] == '\n' || rec[pos] == '\r'): // blanks at the end of a line
		case s.d.quote != 0 && pos < len(rec) && rec[pos] == s.d.quote:
			multiline = true
			if pos, err = s.quotedValue(pos); err != nil {
				return 0, false, err
			}
		default:
			var escaped bool
			pos, escaped = s.plainValue(pos)
			multiline = multiline || escaped
		}
		rec = s.win.Bytes()
		switch {
		case pos == len(rec) && s.win.Err() != nil:
			return 0, false, s.failure(-1)
		case pos == len(rec):
			return pos, multiline, nil
		case rec[pos] == '\n' || rec[pos] == '\r':
			return s.lineEnd(pos), multiline, nil
		}
		pos++ // the delimiter
	}
}

// skipSpaces skips blanks at the start of a value.
func (s *scanner) skipSpaces(pos int) int {
	rec := s.win.Bytes()
	for {
		for pos < len(rec) && (rec[pos] == ' ' || s.d.blanks && rec[pos] == '\t') {
			pos++
		}
		if pos < len(rec) || !s.win.More() {
			return pos
		}
		rec = s.win.Bytes()
	}
}

// plainValue locates the value without quotes at pos and returns the position after it.
func (s *scanner) plainValue(pos int) (end int, escaped bool) {
	rec := s.win.Bytes()
	v := span{start: pos}
	for {
		for pos < len(rec) && !s.special[rec[pos]] {
			pos++
		}
		if pos < len(rec) && s.d.escape != 0 && rec[pos] == s.d.escape {
			v.escaped = true
			pos++ // the next byte does not end the value
			if pos == len(rec) && s.win.More() {
				rec = s.win.Bytes()
			}
			if pos < len(rec) {
				pos++
			}
			continue
		}
		if pos < len(rec) || !s.win.More() {
			break
		}
		rec = s.win.Bytes()
	}
	v.end = pos
	s.add(v)
	return pos, v.escaped
}

// quotedValue locates the value whose opening quote is at pos and returns the position after its closing quote.
func (s *scanner) quotedValue(pos int) (int, error) {
	open := pos
	rec := s.win.Bytes()
	v := span{start: pos + 1}
	pos++
	for checked := !s.d.literal; ; {
		i := s.indexEscape(rec[pos:], true)
		if !checked && (i < 0 || bytes.ContainsAny(rec[pos:pos+i], "\r\n")) {
			if checked = true; s.isLiteral(open) {
				end, _ := s.plainValue(open)
				return end, nil
			}
			rec = s.win.Bytes()
			continue
		}
		if i < 0 {
			pos = len(rec)
			if !s.win.More() {
				if s.d.literal && s.win.Err() == nil {
					s.unpaired = true
					end, _ := s.plainValue(open)
					return end, nil
				}
				return 0, s.failure(open)
			}
			rec = s.win.Bytes()
			continue
		}
		pos += i + 1
		if pos == len(rec) && s.win.More() {
			rec = s.win.Bytes()
		}
		if rec[pos-1] != s.d.quote { // an escape
			v.escaped = true
			pos = min(pos+1, len(rec))
			continue
		}
		if pos == len(rec) || rec[pos] != s.d.quote || !s.d.doubled {
			break
		}
		v.escaped = true
		pos++
	}
	v.end = pos - 1
	if pos < len(rec) && (!s.special[rec[pos]] || rec[pos] == s.d.escape) {
		if s.d.literal {
			end, _ := s.plainValue(open)
			return end, nil
		}
		q := string(rune(s.d.quote))
		return 0, herb.Invalidf("line %d: text follows the closing quote of a value; write a quote inside a value twice (%s)",
			s.line+charset.CountLines(rec[:pos]), q+q)
	}
	s.add(v)
	return pos, nil
}

// literalLines is the number of lines that isLiteral examines.
const literalLines = 100

// isLiteral reports whether the quote at open, which is not closed in its line, is data. It is if every line up to the one
// with the next quote has as many values as the table has columns.
func (s *scanner) isLiteral(open int) bool {
	if s.columns == 0 || s.unpaired {
		return s.unpaired
	}
	from := 1 + bytes.LastIndexAny(s.win.Bytes()[:open], "\r\n")
	for n := range literalLines {
		end, ok := s.indexLineEnd(from)
		if !ok {
			return false
		}
		line := s.win.Bytes()[from:end]
		if 1+bytes.Count(line, []byte{s.d.delimiter}) != s.columns {
			return n > 0 && end == from && end == len(s.win.Bytes()) // the end of the text
		}
		if n == 0 {
			line = line[open-from+1:]
		}
		if bytes.IndexByte(line, s.d.quote) >= 0 {
			return n > 0
		}
		if end == len(s.win.Bytes()) {
			return true
		}
		from = s.lineEnd(end)
	}
	return true
}

// indexLineEnd returns the position of the first line end from a position, or of the end of the text.
func (s *scanner) indexLineEnd(from int) (end int, ok bool) {
	for {
		rec := s.win.Bytes()
		if i := bytes.IndexAny(rec[from:], "\r\n"); i >= 0 {
			return from + i, true
		}
		if !s.win.More() {
			return len(rec), s.win.Err() == nil
		}
	}
}

// add appends a value to the record. Values beyond the largest possible table are only counted.
func (s *scanner) add(v span) {
	if s.width++; s.width <= rows.MaxColumns {
		s.spans = append(s.spans, v)
	}
}

// filled returns the number of values of the current record up to the last that is not empty.
func (s *scanner) filled() int {
	n := len(s.cells)
	if s.width > n {
		return s.width
	}
	for n > 0 && len(s.cells[n-1]) == 0 {
		n--
	}
	return n
}

// failure returns the reason why the window did not grow although the record has no end. open is the position of an
// unclosed quote, -1 if there is none.
func (s *scanner) failure(open int) error {
	quoteLine := s.line
	if open >= 0 {
		quoteLine += charset.CountLines(s.win.Bytes()[:open])
	}
	limit := len(s.win.Bytes())
	switch err := s.win.Err(); {
	case err == charset.ErrTooLong && open >= 0:
		return herb.Invalidf("line %d: the record is longer than %d bytes; is the quote opened in line %d never closed?", s.line, limit, quoteLine)
	case err == charset.ErrTooLong:
		return herb.Invalidf("line %d: the record is longer than %d bytes, the maximum", s.line, limit)
	case err != nil:
		return err
	}
	s.openEnded = true
	return herb.Invalidf("line %d: the quote opened here is never closed; end the value with a quote", quoteLine)
}
