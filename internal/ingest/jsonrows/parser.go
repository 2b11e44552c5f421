package jsonrows

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
)

// parser reads JSON tokens. It is stricter than encoding/json, which accepts repeated members, invalid UTF-8 and half
// surrogate pairs, and it keeps numbers as they are written.
type parser struct {
	win    *charset.Window
	budget *rows.Budget
	rec    []byte // content of the window
	pos    int    // in rec
	line   int
	record int    // number of the current record, from 1
	path   []byte // names of the members that lead to the current value, with pathSeparator between them
	buf    []byte // reused by rawText and appendList
}

// span is a part of the window.
type span struct{ start, end int }

// These bytes cannot occur in JSON, because they are not UTF-8.
const (
	pathSeparator = 0xFF // distinguishes the member b of a from a member a.b
	featureMember = 0xFE // begins the path of a member of a GeoJSON feature, as opposed to one of its properties
)

func newParser(win *charset.Window, b *rows.Budget) *parser {
	return &parser{win: win, budget: b, line: 1}
}

// dotted returns a path as it is displayed.
func dotted(path []byte) string {
	return string(bytes.ReplaceAll(bytes.TrimPrefix(path, []byte{featureMember}), []byte{pathSeparator}, []byte(".")))
}

// member returns the name of the current member for messages.
func (p *parser) member() string { return rows.Clip(dotted(p.path)) }

// position locates the current record.
func (p *parser) position() string {
	if p.record == 0 {
		return fmt.Sprintf("line %d", p.line)
	}
	return fmt.Sprintf("record %d, line %d", p.record, p.line)
}

// begin lets the window start at the current position.
func (p *parser) begin() {
	p.win.Advance(p.pos)
	p.rec, p.pos = p.win.Bytes(), 0
}

// peek returns the next byte, false at the end of the text.
func (p *parser) peek() (byte, bool) {
	if p.pos == len(p.rec) {
		ok := p.win.More()
		p.rec = p.win.Bytes()
		if !ok {
			return 0, false
		}
	}
	return p.rec[p.pos], true
}

// peekToken skips white space and returns the next byte, false at the end of the text.
func (p *parser) peekToken() (byte, bool) {
	for {
		c, ok := p.peek()
		switch {
		case ok && c == '\n':
			p.line++
		case ok && (c == ' ' || c == '\t' || c == '\r'):
		default:
			return c, ok
		}
		p.pos++
	}
}

// open skips the opening bracket of an object or array and reports whether it is empty. Then the closing one is skipped too.
func (p *parser) open(closing byte) (empty bool) {
	p.pos++
	if c, ok := p.peekToken(); !ok || c != closing {
		return false
	}
	p.pos++
	return true
}

// name reads the name of a member and the colon after it.
func (p *parser) name(read func() (span, error)) (span, error) {
	c, ok := p.peekToken()
	switch {
	case !ok:
		return span{}, p.truncated("the object is not closed; end it with }")
	case c != '"':
		return span{}, p.errorf("%s instead of the name of a member; write it in quotes", describe(c))
	}
	s, err := read()
	if err != nil {
		return s, err
	}
	if c, ok := p.peekToken(); !ok || c != ':' {
		return s, p.truncated("no colon after the name %q", rows.Clip(string(p.rec[s.start:s.end])))
	}
	p.pos++
	return s, nil
}

// next reads what follows a member or element: a comma, or the closing bracket, after which it returns false.
func (p *parser) next(closing byte) (more bool, err error) {
	c, ok := p.peekToken()
	switch {
	case ok && (c == ',' || c == closing):
		p.pos++
		return c == ',', nil
	case !ok && closing == '}':
		return false, p.truncated("the object is not closed; end it with }")
	case !ok:
		return false, p.truncated("an array is not closed; end it with ]")
	case closing == '}':
		return false, p.errorf("%s follows the value of %q; write a comma between members and } after the last", describe(c), p.member())
	}
	return false, p.errorf("%s follows an element of an array; write a comma between elements and ] after the last", describe(c))
}

// checkDepth fails if values are nested too deep.
func (p *parser) checkDepth(depth int) error {
	if err := p.budget.Step(); err != nil {
		return err
	}
	if err := p.budget.Depth(depth); err != nil {
		return p.errorf("%s; write the inner ones as text", err)
	}
	return nil
}

// skip validates the value at the current position. With forget, the window does not keep it, so that it can have any size.
func (p *parser) skip(depth int, forget bool) error {
	if err := p.checkDepth(depth); err != nil {
		return err
	}
	if forget {
		p.begin()
	}
	c, ok := p.peekToken()
	switch {
	case !ok:
		return p.truncated("the member %q has no value", p.member())
	case c == '"':
		_, err := p.rawText()
		return err
	case c == '{':
		return p.skipElements('}', depth, forget)
	case c == '[':
		return p.skipElements(']', depth, forget)
	}
	_, err := p.literal()
	return err
}

// skipElements validates the object or array at the current position.
func (p *parser) skipElements(closing byte, depth int, forget bool) error {
	if p.open(closing) {
		return nil
	}
	for {
		if closing == '}' {
			if _, err := p.name(p.rawText); err != nil {
				return err
			}
		}
		if err := p.skip(depth+1, forget); err != nil {
			return err
		}
		if more, err := p.next(closing); err != nil || !more {
			return err
		}
	}
}

// literal reads a number, true, false or null.
func (p *parser) literal() (span, error) {
	s := span{start: p.pos}
	for {
		c, ok := p.peek()
		if !ok || !isLiteral(c) {
			break
		}
		p.pos++
	}
	s.end = p.pos
	switch literal := p.rec[s.start:s.end]; string(literal) {
	case "null", "true", "false":
		return s, nil
	case "":
		c, ok := p.peek()
		if !ok {
			return s, p.truncated("the member %q has no value", p.member())
		}
		return s, p.errorf("%s instead of the value of %q", describe(c), p.member())
	default:
		if !isNumber(literal) {
			return s, p.errorf("%q, the value of %q, is not JSON; put text in quotes and write numbers like -3 or 12.50",
				rows.Clip(string(literal)), p.member())
		}
		return s, nil
	}
}

func (p *parser) errorf(format string, args ...any) error {
	return herb.Invalidf("%s: %s", p.position(), fmt.Sprintf(format, args...))
}

// truncated returns the error of the window if it has one, else a message about the end of the text.
func (p *parser) truncated(format string, args ...any) error {
	if err := p.windowError(); err != nil {
		return err
	}
	return p.errorf(format, args...)
}

// windowError returns the reason why the window did not grow, nil at the end of the text.
func (p *parser) windowError() error {
	err := p.win.Err()
	if err == charset.ErrTooLong {
		return p.errorf("the record is longer than %d bytes, the maximum", len(p.rec))
	}
	return err
}

// isLiteral reports whether c can be part of a number or of true, false and null.
func isLiteral(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '+' || c == '.' || c == '_'
}

// isNumber checks the grammar of RFC 8259.
func isNumber(b []byte) bool {
	b = bytes.TrimPrefix(b, []byte("-"))
	integer := countDigits(b)
	if integer == 0 || integer > 1 && b[0] == '0' {
		return false
	}
	if b = b[integer:]; len(b) > 0 && b[0] == '.' {
		n := countDigits(b[1:])
		if n == 0 {
			return false
		}
		b = b[1+n:]
	}
	if len(b) == 0 || b[0]|0x20 != 'e' {
		return len(b) == 0
	}
	if b = b[1:]; len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	return len(b) > 0 && countDigits(b) == len(b)
}

// countDigits counts the digits at the start of b.
func countDigits(b []byte) int {
	n := 0
	for n < len(b) && '0' <= b[n] && b[n] <= '9' {
		n++
	}
	return n
}

// describe names what begins with a byte, for messages.
func describe(c byte) string {
	switch {
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == '"':
		return "text in quotes"
	case c < 0x80:
		return strconv.QuoteRune(rune(c))
	}
	return fmt.Sprintf("the byte 0x%02X", c)
}

// listNames lists names for a message.
func listNames(names []string) string {
	const limit = 10
	var quoted []string
	for i, n := range names {
		if i == limit {
			return strings.Join(quoted, ", ") + ", …"
		}
		quoted = append(quoted, strconv.Quote(rows.Clip(n)))
	}
	return strings.Join(quoted, ", ")
}
