package jsonrows

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads the string at the current position and returns its value, unescaped in place.
func (p *parser) text() span {
	s, escaped := p.quoted()
	if escaped {
		b := p.rec[s.start:s.end]
		s.end = s.start + len(p.unescape(b[:0], b))
	}
	return s
}

// rawText validates the string at the current position and returns it with its escapes.
func (p *parser) rawText() span {
	s, escaped := p.quoted()
	if escaped {
		p.buf = p.unescape(p.buf[:0], p.rec[s.start:s.end])
	}
	return s
}

// quoted locates the end of the string at the current position.
func (p *parser) quoted() (s span, escaped bool) {
	p.pos++
	s.start = p.pos
	for {
		c, ok := p.peek()
		switch {
		case !ok:
			p.fail("a quote is not closed")
			return span{}, false
		case c == '"':
			s.end = p.pos
			p.pos++
			return s, escaped
		case c == '\\':
			escaped = true
			p.pos++ // the escaped byte is not a closing quote
			if _, ok := p.peek(); !ok {
				continue
			}
		case c < ' ':
			p.fail("control character 0x%02X in a text; write it as \\u%04x", c, c)
			return span{}, false
		}
		p.pos++
		rec := p.rec
		for p.pos < len(rec) && rec[p.pos] >= ' ' && rec[p.pos] != '"' && rec[p.pos] != '\\' {
			p.pos++
		}
	}
}

// The characters after a backslash and what they mean, except u.
const (
	escapes   = `"\/bfnrt`
	unescaped = "\"\\/\b\f\n\r\t"
)

// unescape appends a string without its escapes. No escape is shorter than what it means, so out may overlap b.
func (p *parser) unescape(out, b []byte) []byte {
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 {
			return append(out, b...)
		}
		out = append(out, b[:i]...)
		b = b[i+1:]
		if k := strings.IndexByte(escapes, b[0]); k >= 0 {
			out = append(out, unescaped[k])
			b = b[1:]
			continue
		}
		if b[0] != 'u' {
			_, n := utf8.DecodeRune(b)
			p.fail(`unknown escape \%s; write a backslash as \\`, b[:n])
			return out
		}
		r, size := hexRune(b[1:]), 5
		if utf16.IsSurrogate(r) {
			low := rune(-1)
			if len(b) > 6 && b[5] == '\\' && b[6] == 'u' {
				low = hexRune(b[7:])
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				p.fail(`\u%s is half of a surrogate pair; write both halves`, b[1:5])
				return out
			}
			size = 11
		}
		if r < 0 {
			p.fail(`\u is not followed by four hexadecimal digits`)
			return out
		}
		out = utf8.AppendRune(out, r)
		b = b[size:]
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
