package jsontext

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
)

// parser reads JSON tokens. It is stricter than encoding/json, which accepts repeated members,
// invalid UTF-8 and half surrogate pairs, and it keeps numbers as they are written.
//
// err is the first error. After it, every method behaves as at the end of the text, so callers
// check err once per record.
type parser struct {
	text   *charset.Text
	budget *rows.Budget
	rec    []byte // the window of the text
	before int64  // bytes of the text before the window
	pos    int    // in rec
	line   int
	record int    // number of the current record, from 1
	depth  int    // of arrays and objects around the current position
	forget bool   // the window need not keep the elements that have been read, so that there can be any number of them
	path   []byte // names of the members that lead to the current value, with pathSeparator between them
	hidden []byte // prefix of paths that is not displayed
	buf    []byte // reused for unescaped text and for lists
	err    error
}

// span is a part of the window.
type span struct{ start, end int }

// pathSeparator distinguishes the member b of a from a member a.b. It cannot occur in JSON, because
// it is not UTF-8.
const pathSeparator = 0xFF

func (p *parser) content(s span) []byte { return p.rec[s.start:s.end] }

// memberName returns the path of the current member as it is displayed.
func (p *parser) memberName() string {
	return displayPath(bytes.TrimPrefix(p.path, p.hidden))
}

// displayPath returns a path with dots between the names.
func displayPath(path []byte) string {
	return string(bytes.ReplaceAll(path, []byte{pathSeparator}, []byte(".")))
}

// Position locates the current record. It is part of rows.Rows.
func (p *parser) Position() rows.Position { return rows.Position{Row: p.record, Line: p.line} }

// fail records an error at the current position. Text among the arguments is clipped.
func (p *parser) fail(format string, args ...any) {
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = rows.Clip(s)
		}
	}
	p.stop(herb.Invalidf("%s: %s", p.Position(), fmt.Sprintf(format, args...)))
}

// stop records an error, if it is the first, and moves to the end of the window, where nothing is
// read any more.
func (p *parser) stop(err error) {
	p.err = cmp.Or(p.err, err)
	p.pos = len(p.rec)
}

// begin lets the window start at the current position.
func (p *parser) begin() {
	p.text.Advance(p.pos)
	p.before += int64(p.pos)
	p.rec, p.pos = p.text.Bytes(), 0
}

// jump moves forward to an offset in the text without parsing.
func (p *parser) jump(offset int64) {
	for p.before < offset && (len(p.rec) > 0 || p.grow()) {
		from := p.pos
		p.pos = int(min(int64(len(p.rec)), offset-p.before))
		p.line += bytes.Count(p.rec[from:p.pos], []byte{'\n'})
		p.begin()
	}
}

// peek returns the next byte, false at the end of the text.
func (p *parser) peek() (byte, bool) {
	if p.pos == len(p.rec) && !p.grow() {
		return 0, false
	}
	return p.rec[p.pos], true
}

func (p *parser) grow() bool {
	if p.err != nil {
		return false
	}
	size, more := len(p.rec), p.text.More()
	p.rec = p.text.Bytes()
	if err := p.budget.Unpack(int64(len(p.rec) - size)); err != nil { // a document is read again for each of its tables
		p.stop(err)
		return false
	}
	switch err := p.text.Err(); {
	case more || err == nil:
	case err == charset.ErrTooLong:
		p.fail("the record is longer than %s, the maximum", herb.FormatBytes(int64(len(p.rec))))
	default:
		p.stop(err)
	}
	return more
}

// peekToken skips white space and returns the next byte, false at the end of the text.
func (p *parser) peekToken() (byte, bool) {
	for {
		c, ok := p.peek()
		if c == '\n' {
			p.line++
		} else if c != ' ' && c != '\t' && c != '\r' {
			return c, ok
		}
		p.pos++
	}
}

// elements reads the array or object at the current position. It calls read for each element or
// member, which read reads.
func (p *parser) elements(closing byte, read func()) {
	p.depth++
	if err := p.budget.Depth(p.depth); err != nil {
		p.fail("%s; write the inner ones as text", err)
		return
	}
	p.pos++ // the opening bracket
	c, ok := p.peekToken()
	for more := c != closing; more; {
		if p.forget {
			p.begin()
		}
		read()
		c, ok = p.peekToken()
		more = c == ','
		if more {
			p.pos++
		}
	}
	switch {
	case c == closing:
		p.pos++
		p.depth--
	case closing == '}' && ok:
		p.fail("%s follows the value of %q; write a comma between members and } after the last", describe(c),
			p.memberName())
	case closing == '}':
		p.fail("the object is not closed; end it with }")
	case ok:
		p.fail("%s follows an element of an array; write a comma between elements and ] after the last", describe(c))
	default:
		p.fail("an array is not closed; end it with ]")
	}
}

// array reads the array at the current position. It calls element for each value, which element
// reads.
func (p *parser) array(element func()) { p.elements(']', element) }

// object reads the object at the current position. It calls member for each name, whose escapes are
// kept if raw is set. member reads the value.
func (p *parser) object(raw bool, member func(name span)) {
	p.elements('}', func() {
		if c, ok := p.peekToken(); c != '"' {
			if ok {
				p.fail("%s instead of the name of a member; write it in quotes", describe(c))
			}
			return
		}
		name := p.quotedText(raw)
		if c, _ := p.peekToken(); c != ':' {
			p.fail("no colon after the name %q", string(p.content(name)))
			return
		}
		p.pos++
		member(name)
	})
}

// skip validates the value at the current position.
func (p *parser) skip() {
	if p.forget {
		p.begin()
	}
	switch c, _ := p.peekToken(); c {
	case '"':
		p.quotedText(true)
	case '{':
		p.object(true, func(span) { p.skip() })
	case '[':
		p.array(p.skip)
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
	switch b := p.content(s); {
	case json.Valid(b) || slices.Contains([]string{"NaN", "Infinity", "-Infinity"}, string(b)): // as Python writes them
		return s
	case len(b) > 0:
		p.fail("%q, the value of %q, is not JSON; put text in quotes and write numbers like -3 or 12.50", string(b),
			p.memberName())
	case ok:
		p.fail("%s instead of the value of %q", describe(c), p.memberName())
	default:
		p.fail("the member %q has no value", p.memberName())
	}
	return span{}
}

func isLiteral(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '+' ||
		c == '.' || c == '_'
}

// quotedText reads the string at the current position. Its escapes are replaced in place, unless
// raw is set.
func (p *parser) quotedText(raw bool) span {
	p.pos++
	s, escaped := span{start: p.pos}, false
	for {
		c, ok := p.peek()
		if ok && c == '\\' {
			escaped = true
			p.pos++ // the escaped byte is not a closing quote
			c, ok = p.peek()
		} else if ok && c == '"' {
			break
		}
		switch {
		case !ok:
			p.fail("a quote is not closed")
			return span{}
		case c < ' ':
			p.fail("control character 0x%02X in a text; write it as \\u%04x", c, c)
			return span{}
		}
		rec, pos := p.rec, p.pos+1
		for pos < len(rec) && rec[pos] >= ' ' && rec[pos] != '"' && rec[pos] != '\\' {
			pos++
		}
		p.pos = pos
	}
	s.end = p.pos
	p.pos++
	if escaped {
		p.buf = p.unescape(p.buf[:0], p.content(s))
	}
	if escaped && !raw {
		s.end = s.start + copy(p.content(s), p.buf) // no escape is shorter than what it means
	}
	return s
}

func (p *parser) unescape(out, b []byte) []byte {
	for {
		before, escape, found := bytes.Cut(b, []byte{'\\'})
		out = append(out, before...)
		if !found {
			return out
		}
		r, size := rune(-1), 1
		if i := strings.IndexByte(`"\/bfnrt`, escape[0]); i >= 0 {
			r = rune("\"\\/\b\f\n\r\t"[i])
		} else if escape[0] != 'u' {
			_, n := utf8.DecodeRune(escape)
			p.fail(`unknown escape \%s; write a backslash as \\`, escape[:n])
			return out
		} else if r, size = hexRune(escape[1:]), 5; utf16.IsSurrogate(r) {
			low := rune(-1)
			if bytes.HasPrefix(escape[5:], []byte(`\u`)) {
				low = hexRune(escape[7:])
			}
			r, size = utf16.DecodeRune(r, low), 11
			if r == utf8.RuneError {
				p.fail(`\u%s is half of a surrogate pair; write both halves`, escape[1:5])
				return out
			}
		} else if r < 0 {
			p.fail(`\u is not followed by four hexadecimal digits`)
			return out
		}
		out, b = utf8.AppendRune(out, r), escape[size:]
	}
}

// hexRune reads four hexadecimal digits. It returns -1 if there are none.
func hexRune(b []byte) rune {
	n, err := strconv.ParseUint(string(b[:min(4, len(b))]), 16, 16)
	if err != nil || len(b) < 4 {
		return -1
	}
	return rune(n)
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
