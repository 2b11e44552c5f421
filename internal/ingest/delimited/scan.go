package delimited

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/table"
)

// dialect is the way in which records are written. Quote is 0 if quotes are data, Delimiter if each
// line is one value.
type dialect struct {
	rows.Options      // CommentRows are sorted
	blanks       bool // runs of blanks and tabs separate values
	literal      bool // quotes that do not enclose a value are data
	lenient      bool // an escape before an ordinary character is data
}

// scanner splits a text into records. It differs from encoding/csv: quoted values keep their line
// ends byte for byte, a lone carriage return ends a record, and errors name a remedy.
type scanner struct {
	text    *charset.Text
	budget  *rows.Budget // charged for lines that are no records; nil: they are few
	d       dialect
	special [256]bool // bytes that end a value without quotes
	record  table.Row // the current one
	next    int       // line of the next record
	size    int       // bytes of the current record
	width   int       // values of the current record
	spans   []span    // the first of those values
	columns int       // of the table; 0: not known yet
	fixed   fixedWidth

	last      bool // the window holds the rest of the text
	openEnded bool // the text ended within quotes
	unpaired  bool // no quote in the rest of the text closes a value
	spanned   int  // line of the first quote whose value has several lines; 0: there is none

	dropped *herb.Layout // collects the lines that the settings exclude; nil: they are not needed
}

type span struct {
	start, end      int
	quoted, escaped bool
}

// errShort means that a record may continue after the window.
var errShort = errors.New("the window ends within the record")

func (s *scanner) setDialect(d dialect) {
	s.d, s.special = d, [256]bool{'\r': true, '\n': true, ' ': d.blanks, '\t': d.blanks}
	for _, c := range []byte{d.Delimiter, d.Escape} {
		s.special[c] = s.special[c] || c != 0
	}
}

// readRecord reads the next record, without blank lines and comments. Its values are valid until
// the next call.
func (s *scanner) readRecord() error {
	s.record.Gap = false
	for skipped := 0; ; skipped++ {
		if skipped > 0 && s.budget != nil {
			if err := s.budget.Elements(1); err != nil {
				return err
			}
		}
		s.advance()
		head, _ := s.text.Peek(len(s.d.Comment))
		_, isComment := slices.BinarySearch(s.d.CommentRows, s.record.Line)
		if isComment || s.d.Comment != "" && bytes.HasPrefix(head, []byte(s.d.Comment)) {
			reason := "excluded by its number"
			if !isComment {
				reason = "begins with " + s.d.Comment
			}
			if err := s.skipLine(reason); err != nil {
				return err
			}
			continue
		}
		scan := s.scan
		if s.d.isFixed() {
			scan = s.scanFixed
		}
		if err := s.measure(scan); err != nil {
			return err
		}
		raw := s.text.Bytes()[:s.size]
		s.next = s.record.Line + charset.CountLines(raw)
		isBlank := len(s.spans) == 1 && s.spans[0] == (span{}) || s.width == 1 && s.d.Delimiter != 0 &&
			len(bytes.TrimSpace(raw)) == 0
		if len(s.spans) == 0 || isBlank {
			s.record.Gap = true // a blank line
			continue
		}
		s.record.End, s.record.Cells, s.record.Blank = s.next-1, s.record.Cells[:0], s.width > 1 &&
			s.width == len(s.spans)
		for _, v := range s.spans {
			cell := raw[v.start:v.end]
			s.record.Blank = s.record.Blank && !v.quoted && len(cell) == 0
			if v.escaped || s.d.Null != "" {
				cell = s.value(cell, v)
			}
			s.record.Cells = append(s.record.Cells, cell)
		}
		return nil
	}
}

func (s *scanner) advance() {
	s.text.Advance(s.size)
	s.record.Line, s.size = s.next, 0
}

// skipLine skips a line regardless of quotes. reason is why the settings exclude it; empty: they do
// not.
func (s *scanner) skipLine(reason string) error {
	err := s.measure(func(buf []byte) (int, error) { return s.endRecord(buf, 0) })
	if err == nil {
		s.next++
		if s.dropped != nil && reason != "" {
			s.dropped.Drop(s.record.Line, reason, string(s.text.Bytes()[:min(s.size, maxDropped)]))
		}
	}
	return err
}

// maxDropped is the number of bytes that are read of a line that the settings exclude.
const maxDropped = 1 << 10

// cutLine returns the first line of b, and what follows its end if there is one.
func cutLine(b []byte) (line, rest []byte, found bool) {
	i := 0
	for i < len(b) && b[i] != '\r' && b[i] != '\n' {
		i++
	}
	if i == len(b) {
		return b, nil, false
	}
	rest = b[i+1:]
	if b[i] == '\r' {
		rest = bytes.TrimPrefix(rest, []byte("\n"))
	}
	return b[:i], rest, true
}

// skipTo skips the lines before one. It returns io.EOF if there is no such line. reason is that of
// skipLine.
func (s *scanner) skipTo(line int, reason string) error {
	for s.next < line {
		s.advance()
		if err := s.skipLine(reason); err != nil {
			return err
		}
	}
	s.advance()
	return nil
}

// measure sets the size of the record at the start of the window. If scan returns errShort, the
// window is made longer and the record scanned again, so that scan need not resume.
func (s *scanner) measure(scan func(buf []byte) (size int, err error)) (err error) {
	for s.last = false; ; s.last = !s.text.More() {
		s.size, err = scan(s.text.Bytes())
		if err != errShort {
			return err
		}
	}
}

// endRecord returns the position after the line that has pos, which may be the last of the text.
func (s *scanner) endRecord(buf []byte, pos int) (size int, err error) {
	_, rest, found := cutLine(buf[pos:])
	switch {
	case !s.last && (!found || len(rest) == 0 && buf[len(buf)-1] == '\r'):
		return 0, errShort
	case !found && s.text.Err() != nil:
		return 0, s.failure(-1)
	case len(buf) == 0:
		return 0, io.EOF
	}
	return len(buf) - len(rest), nil
}

// scan locates the values of the record at the start of buf, and the end of its line.
func (s *scanner) scan(buf []byte) (size int, err error) {
	s.spans, s.width = s.spans[:0], 0
	for pos := 0; ; pos++ { // a delimiter
		if s.d.SkipInitialSpace || s.d.blanks {
			for pos < len(buf) && (buf[pos] == ' ' || s.d.blanks && buf[pos] == '\t') {
				pos++
			}
		}
		switch {
		case pos < len(buf) && buf[pos] == s.d.Quote && s.d.Quote != 0:
			pos, err = s.quotedValue(buf, pos)
			if err != nil {
				return 0, err
			}
		case s.d.blanks && (pos == len(buf) || buf[pos] == '\n' || buf[pos] == '\r'): // blanks at the end of a line
		default:
			pos = s.plainValue(buf, pos)
		}
		if pos == len(buf) || buf[pos] == '\n' || buf[pos] == '\r' {
			return s.endRecord(buf, pos)
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

// quotedValue locates the value whose opening quote is at pos and returns the position after its
// closing quote.
func (s *scanner) quotedValue(buf []byte, open int) (end int, err error) {
	v := span{start: open + 1, quoted: true}
	pos := open + 1
	for checked := !s.d.literal; ; pos = min(pos+1, len(buf)) { // an escaped byte
		i := s.indexEscape(buf[pos:], true)
		if !checked && (i < 0 || bytes.ContainsAny(buf[pos:pos+i], "\r\n")) {
			checked = true
			if isLiteral, err := s.isLiteral(buf, open); isLiteral || err != nil {
				return s.plainValue(buf, open), err
			}
		}
		switch {
		case !s.last && (i < 0 || pos+i+1 == len(buf)):
			return 0, errShort
		case i < 0 && (!s.d.literal || s.text.Err() != nil):
			return 0, s.failure(open)
		case i < 0:
			s.unpaired = true
			return s.plainValue(buf, open), nil
		}
		pos += i + 1
		if buf[pos-1] == s.d.Quote && (pos == len(buf) || buf[pos] != s.d.Quote || s.d.NoDoubleQuote) {
			break
		}
		v.escaped = true
	}
	v.end = pos - 1
	if s.spanned == 0 && bytes.ContainsAny(buf[open:pos], "\r\n") {
		s.spanned = s.record.Line + charset.CountLines(buf[:open])
	}
	switch {
	case pos == len(buf) || s.special[buf[pos]] && buf[pos] != s.d.Escape:
		s.add(v)
		return pos, nil
	case s.d.literal || s.columns == 0 && !bytes.ContainsAny(buf[open:pos], "\r\n"): // a name may have a part in quotes
		return s.plainValue(buf, open), nil
	}
	q := string(rune(s.d.Quote))
	opened, closed := s.record.Line+charset.CountLines(buf[:open]), s.record.Line+charset.CountLines(buf[:pos])
	where := ""
	if closed > opened {
		where = fmt.Sprintf(" that ends in line %d", closed)
	}
	return 0, herb.Invalidf(
		"line %d: text follows the closing quote of a value%s; write a quote inside a value twice (%s)%s", opened,
		where, q+q, s.earlier(opened))
}

// isLiteral reports whether the quote at open, which is not closed in its line, is data. It is if
// every line up to the one with the next quote, of at most 100, has as many values as the table has
// columns.
func (s *scanner) isLiteral(buf []byte, open int) (bool, error) {
	if s.columns == 0 || s.unpaired {
		return s.unpaired, nil
	}
	start := 1 + bytes.LastIndexAny(buf[:open], "\r\n")
	rest, before := buf[start:], open+1-start // bytes of the line up to the quote
	for n := range 100 {
		line, after, found := cutLine(rest)
		switch {
		case !found && !s.last:
			return false, errShort
		case !found && s.text.Err() != nil:
			return false, nil
		case 1+bytes.Count(line, []byte{s.d.Delimiter}) != s.columns:
			return n > 0 && len(rest) == 0, nil // the end of the text
		case bytes.IndexByte(line[before:], s.d.Quote) >= 0:
			return n > 0, nil
		case !found:
			return true, nil
		}
		rest, before = after, 0
	}
	return true, nil
}

// add appends a value to the record. Values beyond the first that the largest possible table lacks
// are only counted.
func (s *scanner) add(v span) {
	s.width++
	if s.width <= rows.MaxColumns+1 {
		s.spans = append(s.spans, v)
	}
}

// value returns a value without its escapes, which it removes in place, and an empty one for the
// null value.
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

// indexEscape returns the position of the first escape in b, or quote if the value is quoted, -1 if
// there is none.
func (s *scanner) indexEscape(b []byte, quoted bool) int {
	switch {
	case !quoted:
		return bytes.IndexByte(b, s.d.Escape)
	case s.d.Escape == 0 || s.d.Escape == s.d.Quote:
		return bytes.IndexByte(b, s.d.Quote)
	}
	return bytes.IndexAny(b, string([]byte{s.d.Quote, s.d.Escape}))
}

// failure returns why the window did not grow although the record has no end. open is the position
// of an unclosed quote, or -1.
func (s *scanner) failure(open int) error {
	buf, line := s.text.Bytes(), s.record.Line
	quoteLine := line + charset.CountLines(buf[:max(open, 0)])
	switch err := s.text.Err(); {
	case err == charset.ErrTooLong && open >= 0:
		return herb.Invalidf("line %d: the record is longer than %s; is the quote opened in line %d never closed?",
			line, herb.FormatBytes(int64(len(buf))), quoteLine)
	case err == charset.ErrTooLong:
		return herb.Invalidf("line %d: the record is longer than %s, the maximum", line,
			herb.FormatBytes(int64(len(buf))))
	case err != nil:
		return err
	}
	s.openEnded = true
	return herb.Invalidf("line %d: the quote opened here is never closed; end the value with a quote%s", quoteLine,
		s.earlier(quoteLine))
}

// earlier names the first quote whose value has several lines, which may be the one that is not
// closed properly.
func (s *scanner) earlier(line int) string {
	if s.spanned == 0 || s.spanned >= line {
		return ""
	}
	return fmt.Sprintf("; if that is right, see line %d, where the first value of several lines begins", s.spanned)
}
