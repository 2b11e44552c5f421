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

// isComment reports whether the line at the start of the window is not a record.
func (s *scanner) isComment() bool {
	head, _ := s.win.Sample(len(s.d.comment))
	return s.d.skip[s.line] || s.d.comment != "" && bytes.HasPrefix(head, []byte(s.d.comment))
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
		} else if pos < len(rec) && (rec[pos] != s.d.quote || s.d.quote == 0) { // the usual case, without calls
			end := pos
			for end < len(rec) && !s.special[rec[end]] {
				end++
			}
			if end < len(rec) && rec[end] == s.d.delimiter && s.d.delimiter != s.d.escape {
				s.add(span{start: pos, end: end})
				pos = end + 1
				continue
			}
		}
		switch {
		case s.d.blanks && (pos == len(rec) || rec[pos] == '\n' || rec[pos] == '\r'): // blanks at the end of a line
		case s.d.quote != 0 && pos < len(rec) && rec[pos] == s.d.quote:
			multiline = true
			if pos, err = s.quotedValue(pos); err != nil {
				return 0, false, err
			}
		default:
			multiline = multiline || s.d.escape != 0
			pos = s.plainValue(pos)
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
func (s *scanner) plainValue(pos int) int {
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
	return pos
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
