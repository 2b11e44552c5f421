package ingest

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads the text in quotes at the current position and returns where it lies with its escapes undone. That is
// done in place: no escape is shorter than what it stands for.
func (j *jsonReader) str() (span, error) {
	s, err := j.quoted()
	if err != nil || !s.escaped {
		return s, err
	}
	b := j.rec[s.start:s.end]
	out, err := j.appendText(b[:0], b)
	s.end = s.start + len(out)
	return s, err
}

// checkText passes over the text in quotes at the current position.
func (j *jsonReader) checkText() error {
	s, err := j.quoted()
	if err != nil || !s.escaped {
		return err
	}
	b := j.rec[s.start:s.end]
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 {
			return nil
		}
		c := b[i+1]
		b = b[i+2:]
		if _, ok := hex4(b); c == 'u' && !ok {
			return j.errorf(`\u is not followed by four hexadecimal digits`)
		}
		if strings.IndexByte(`"\/bfnrtu`, c) < 0 {
			return j.errorf(`\%s is no escape; write a backslash as \\`, firstRune(append([]byte{c}, b...)))
		}
	}
}

// quoted finds the end of the text in quotes at the current position.
func (j *jsonReader) quoted() (span, error) {
	j.pos++
	s := span{start: j.pos}
	for {
		c, ok := j.peek()
		switch {
		case !ok:
			return s, j.cutShort("a quote is not closed")
		case c == '"':
			s.end = j.pos
			j.pos++
			return s, nil
		case c == '\\':
			s.escaped = true
			j.pos++ // the escaped byte is not a closing quote
			if _, ok := j.peek(); !ok {
				continue
			}
		case c < ' ':
			return s, j.errorf("there is a control character (0x%02X) in a text; write it as \\u%04x", c, c)
		}
		j.pos++
		rec := j.rec
		for j.pos < len(rec) && isPlain(rec[j.pos]) {
			j.pos++
		}
	}
}

// isPlain reports whether a byte stands for itself in a text.
func isPlain(c byte) bool { return c >= ' ' && c != '"' && c != '\\' }

// appendText appends a text with its escapes undone.
func (j *jsonReader) appendText(out, b []byte) ([]byte, error) {
	for i := 0; i < len(b); {
		if b[i] != '\\' {
			out = append(out, b[i])
			i++
			continue
		}
		c := b[i+1]
		i += 2
		switch c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, n := unicodeEscape(b[i:])
			switch {
			case n == 0:
				return out, j.errorf(`\u is not followed by four hexadecimal digits`)
			case r < 0:
				return out, j.errorf(`\u%s is half of a surrogate pair; write both halves`, b[i:i+4])
			}
			out = utf8.AppendRune(out, r)
			i += n
		default:
			return out, j.errorf(`\%s is no escape; write a backslash as \\`, firstRune(b[i-1:]))
		}
	}
	return out, nil
}

func firstRune(b []byte) []byte {
	_, n := utf8.DecodeRune(b)
	return b[:n]
}

// unicodeEscape reads what follows \u: four digits, or for a surrogate the digits of both halves. n is the number of
// bytes read, 0 if there are no four digits; r is negative for half a pair.
func unicodeEscape(b []byte) (r rune, n int) {
	r, ok := hex4(b)
	switch {
	case !ok:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 4
	case len(b) < 10 || b[4] != '\\' || b[5] != 'u':
		return -1, 4
	}
	low, ok := hex4(b[6:])
	if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
		return -1, 4
	}
	return r, 10
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		r <<= 4
		switch {
		case '0' <= c && c <= '9':
			r |= rune(c - '0')
		case 'a' <= c && c <= 'f':
			r |= rune(c - 'a' + 10)
		case 'A' <= c && c <= 'F':
			r |= rune(c - 'A' + 10)
		default:
			return 0, false
		}
	}
	return r, true
}

// isLiteral reports whether c can be part of a number or of true, false and null.
func isLiteral(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '+' || c == '.' || c == '_'
}

// isJSONNumber checks the grammar of RFC 8259.
func isJSONNumber(b []byte) bool {
	digits := func() (n int) {
		for len(b) > 0 && '0' <= b[0] && b[0] <= '9' {
			b, n = b[1:], n+1
		}
		return n
	}
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	zero := len(b) > 0 && b[0] == '0'
	if n := digits(); n == 0 || zero && n > 1 {
		return false
	}
	if len(b) > 0 && b[0] == '.' {
		b = b[1:]
		if digits() == 0 {
			return false
		}
	}
	if len(b) > 0 && (b[0] == 'e' || b[0] == 'E') {
		b = b[1:]
		if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
			b = b[1:]
		}
		if digits() == 0 {
			return false
		}
	}
	return len(b) == 0
}
