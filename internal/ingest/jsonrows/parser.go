package jsonrows

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
)

// parser reads JSON tokens. It is stricter than encoding/json, which accepts repeated members, invalid UTF-8 and half
// surrogate pairs, and it keeps numbers as they are written.
//
// err is the first error. After it, every method behaves as at the end of the text, so callers check err once per record.
type parser struct {
	source *charset.Reader
	win    *charset.Window
	budget *rows.Budget
	rec    []byte // content of the window
	pos    int    // in rec
	line   int
	record int    // number of the current record, from 1
	forget bool   // the window need not keep what has been read, so that values can have any size
	path   []byte // names of the members that lead to the current value, with pathSeparator between them
	hidden []byte // prefix of paths that is not displayed
	buf    []byte // reused by rawText and readList
	err    error
}

// span is a part of the window.
type span struct{ start, end int }

// pathSeparator distinguishes the member b of a from a member a.b. It cannot occur in JSON, because it is not UTF-8.
const pathSeparator = 0xFF

// openParser opens the text of a file.
func openParser(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (*parser, error) {
	source, err := charset.NewReader(ctx, f, o.Encoding)
	if err != nil {
		return nil, err
	}
	return &parser{source: source, win: charset.NewWindow(source, b.MaxRecord()), budget: b, line: 1}, nil
}

// dotted returns the path as it is displayed.
func (p *parser) dotted() string {
	return string(bytes.ReplaceAll(bytes.TrimPrefix(p.path, p.hidden), []byte{pathSeparator}, []byte(".")))
}

// memberName returns the name of the current member for messages.
func (p *parser) memberName() string { return rows.Clip(p.dotted()) }

// Position locates the current record. It is part of rows.Rows.
func (p *parser) Position() rows.Position { return rows.Position{Row: p.record, Line: p.line} }

// fail records an error at the current position.
func (p *parser) fail(format string, args ...any) {
	p.stop(herb.Invalidf("%s: %s", p.Position(), fmt.Sprintf(format, args...)))
}

// stop records an error, if it is the first, and moves to the end of the window, where nothing is read any more.
func (p *parser) stop(err error) {
	p.err = cmp.Or(p.err, err)
	p.pos = len(p.rec)
}

// begin lets the window start at the current position.
func (p *parser) begin() {
	p.win.Advance(p.pos)
	p.rec, p.pos = p.win.Bytes(), 0
}

// peek returns the next byte, false at the end of the text.
func (p *parser) peek() (byte, bool) {
	if p.pos == len(p.rec) && !p.grow() {
		return 0, false
	}
	return p.rec[p.pos], true
}

// grow makes the window longer.
func (p *parser) grow() bool {
	if p.err != nil {
		return false
	}
	more := p.win.More()
	p.rec = p.win.Bytes()
	switch err := p.win.Err(); {
	case more || err == nil:
	case err == charset.ErrTooLong:
		p.fail("the record is longer than %d bytes, the maximum", len(p.rec))
	default:
		p.stop(err)
	}
	return more
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

// elements reads the object or array at the current position. It calls element for each member or element, which element
// reads.
func (p *parser) elements(closing byte, element func()) {
	p.pos++ // the opening bracket
	if c, _ := p.peekToken(); c == closing {
		p.pos++
		return
	}
	for more := true; more; {
		element()
		c, ok := p.peekToken()
		more = c == ','
		switch {
		case c == ',' || c == closing:
			p.pos++
		case !ok && closing == '}':
			p.fail("the object is not closed; end it with }")
		case !ok:
			p.fail("an array is not closed; end it with ]")
		case closing == '}':
			p.fail("%s follows the value of %q; write a comma between members and } after the last", describe(c), p.memberName())
		default:
			p.fail("%s follows an element of an array; write a comma between elements and ] after the last", describe(c))
		}
	}
}

// object reads the object at the current position. It calls member for each name, which read reads. member reads the value.
func (p *parser) object(depth int, read func() span, member func(name span)) {
	if !p.checkDepth(depth) {
		return
	}
	p.elements('}', func() {
		if p.forget {
			p.begin()
		}
		if name := p.name(read); p.err == nil {
			member(name)
		}
	})
}

// array reads the array at the current position. It calls element for each value, which element reads.
func (p *parser) array(element func()) { p.elements(']', element) }

// name reads the name of a member and the colon after it.
func (p *parser) name(read func() span) span {
	c, ok := p.peekToken()
	if c != '"' {
		if ok {
			p.fail("%s instead of the name of a member; write it in quotes", describe(c))
		}
		p.fail("the object is not closed; end it with }")
		return span{}
	}
	s := read()
	if c, _ = p.peekToken(); c != ':' {
		p.fail("no colon after the name %q", rows.Clip(string(p.rec[s.start:s.end])))
		return span{}
	}
	p.pos++
	return s
}

// checkDepth fails if values are nested too deep.
func (p *parser) checkDepth(depth int) bool {
	if err := p.budget.Step(); err != nil {
		p.stop(err)
	}
	if err := p.budget.Depth(depth); err != nil {
		p.fail("%s; write the inner ones as text", err)
	}
	return p.err == nil
}

// skip validates the value at the current position.
func (p *parser) skip(depth int) {
	if !p.checkDepth(depth) {
		return
	}
	if p.forget {
		p.begin()
	}
	switch c, _ := p.peekToken(); c {
	case '"':
		p.rawText()
	case '{':
		p.object(depth, p.rawText, func(span) { p.skip(depth + 1) })
	case '[':
		p.array(func() { p.skip(depth + 1) })
	default:
		p.literal()
	}
}

// literal reads a number, true, false or null.
func (p *parser) literal() span {
	s := span{start: p.pos}
	c, ok := p.peek()
	for ok && isLiteral(c) {
		p.pos++
		c, ok = p.peek()
	}
	s.end = p.pos
	switch b := p.rec[s.start:s.end]; {
	case json.Valid(b):
		return s
	case len(b) > 0:
		p.fail("%q, the value of %q, is not JSON; put text in quotes and write numbers like -3 or 12.50", rows.Clip(string(b)), p.memberName())
	case ok:
		p.fail("%s instead of the value of %q", describe(c), p.memberName())
	default:
		p.fail("the member %q has no value", p.memberName())
	}
	return span{}
}

// isLiteral reports whether c can be part of a number or of true, false and null.
func isLiteral(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '+' || c == '.' || c == '_'
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
