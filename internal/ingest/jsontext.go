package ingest

import (
	"unicode/utf16"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// str reads the text in quotes at the current position and returns where it lies with its escapes undone. That is
// done in place: no escape is shorter than what it stands for.
func (j *jsonReader) str() (span, error) {
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
			return j.unescape(s)
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

// unescape undoes the escapes of a text.
func (j *jsonReader) unescape(s span) (span, error) {
	b := j.rec[s.start:s.end]
	if i := invalidUTF8(b); i >= 0 {
		return s, herb.Invalidf("%s: invalid UTF-8 at byte %d of the file; save it as UTF-8", j.position(),
			j.win.offset()+int64(s.start+i))
	}
	if !s.escaped {
		return s, nil
	}
	out := b[:0]
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
				return s, j.errorf(`\u is not followed by four hexadecimal digits`)
			case r < 0:
				return s, j.errorf(`\u%s is half of a surrogate pair; write both halves`, b[i:i+4])
			}
			out = utf8.AppendRune(out, r)
			i += n
		default:
			return s, j.errorf(`\%s is no escape; write a backslash as \\`, firstRune(b[i-1:]))
		}
	}
	s.end = s.start + len(out)
	return s, nil
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
