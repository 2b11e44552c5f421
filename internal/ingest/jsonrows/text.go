package jsonrows

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads the string at the current position and returns its value, unescaped in place.
func (p *parser) text() (span, error) {
	s, escaped, err := p.quoted()
	if err != nil || !escaped {
		return s, err
	}
	b := p.rec[s.start:s.end]
	out, err := p.unescape(b[:0], b)
	s.end = s.start + len(out)
	return s, err
}

// rawText validates the string at the current position and returns it with its escapes.
func (p *parser) rawText() (span, error) {
	s, escaped, err := p.quoted()
	if err != nil || !escaped {
		return s, err
	}
	p.buf, err = p.unescape(p.buf[:0], p.rec[s.start:s.end])
	return s, err
}

// quoted locates the end of the string at the current position.
func (p *parser) quoted() (s span, escaped bool, err error) {
	p.pos++
	s.start = p.pos
	for {
		c, ok := p.peek()
		switch {
		case !ok:
			return s, escaped, p.truncated("a quote is not closed")
		case c == '"':
			s.end = p.pos
			p.pos++
			return s, escaped, nil
		case c == '\\':
			escaped = true
			p.pos++ // the escaped byte is not a closing quote
			if _, ok := p.peek(); !ok {
				continue
			}
		case c < ' ':
			return s, escaped, p.errorf("control character 0x%02X in a text; write it as \\u%04x", c, c)
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
func (p *parser) unescape(out, b []byte) ([]byte, error) {
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 {
			return append(out, b...), nil
		}
		out = append(out, b[:i]...)
		c := b[i+1]
		b = b[i+2:]
		if c != 'u' {
			k := strings.IndexByte(escapes, c)
			if k < 0 {
				return out, p.unknownEscape(append([]byte{c}, b...))
			}
			out = append(out, unescaped[k])
			continue
		}
		r, ok := hexRune(b)
		if !ok {
			return out, p.errorf(`\u is not followed by four hexadecimal digits`)
		}
		size := 4
		if utf16.IsSurrogate(r) {
			high := r
			r = utf8.RuneError
			if len(b) >= 10 && b[4] == '\\' && b[5] == 'u' {
				if low, ok := hexRune(b[6:]); ok {
					r = utf16.DecodeRune(high, low)
				}
			}
			if size = 10; r == utf8.RuneError {
				return out, p.errorf(`\u%s is half of a surrogate pair; write both halves`, b[:4])
			}
		}
		out = utf8.AppendRune(out, r)
		b = b[size:]
	}
}

func (p *parser) unknownEscape(b []byte) error {
	_, n := utf8.DecodeRune(b)
	return p.errorf(`unknown escape \%s; write a backslash as \\`, b[:n])
}

// hexRune reads four hexadecimal digits.
func hexRune(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 16)
	return rune(n), err == nil
}

// appendList appends the elements of a valid array with commas between them. It returns false if that would change what
// the elements are: one with a comma would be two, and one that is empty or null would be ambiguous.
func (p *parser) appendList(out, raw []byte) (list []byte, ok bool, err error) {
	if raw[0] != '[' {
		return out, false, nil
	}
	for i, start := 1, len(out); ; {
		for isSpace(raw[i]) || raw[i] == ',' {
			i++
		}
		if raw[i] == ']' {
			return out, true, nil
		}
		if len(out) > start {
			out = append(out, ',')
		}
		from, end := len(out), i
		switch raw[i] {
		case '{', '[':
			return out, false, nil
		case '"':
			end = textEnd(raw, i)
			if out, err = p.unescape(out, raw[i+1:end-1]); err != nil {
				return out, false, err
			}
		default:
			for isLiteral(raw[end]) {
				end++
			}
			if string(raw[i:end]) != "null" {
				out = append(out, raw[i:end]...)
			}
		}
		if len(out) == from || bytes.IndexByte(out[from:], ',') >= 0 {
			return out, false, nil
		}
		i = end
	}
}

// appendCompact appends valid JSON without white space between its tokens.
func appendCompact(out, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch {
		case raw[i] == '"':
			end := textEnd(raw, i)
			out = append(out, raw[i:end]...)
			i = end
		case isSpace(raw[i]):
			i++
		default:
			out = append(out, raw[i])
			i++
		}
	}
	return out
}

// textEnd returns the position after the string that begins at i.
func textEnd(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
