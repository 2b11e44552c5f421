package export

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// csvWriter turns records, which are JSON objects with strings for values, into lines of CSV. It never holds a value as a
// whole: what JSON escapes is undone piece by piece.
type csvWriter struct {
	out     *sink
	fields  int
	scratch [utf8.UTFMax]byte // what an escape stands for
}

var errRecord = errors.New("export: a record is not an object of strings")

// header writes the names of the fields.
func (c *csvWriter) header(fields []herb.Field) {
	for i, f := range fields {
		if i > 0 {
			c.out.byte(',')
		}
		raw := herb.AppendJSONString(nil, f.Name)
		raw = raw[1 : len(raw)-1]
		c.write(raw, c.shape(raw)|quoteIf(strings.ContainsAny(f.Name, otherSeparators)))
	}
	c.out.write([]byte("\r\n"))
}

// record writes a line.
func (c *csvWriter) record(rec []byte) error {
	s := scanner{rest: rec}
	s.expect('{')
	for i := range c.fields {
		if i > 0 {
			s.expect(',')
			c.out.byte(',')
		}
		s.text()
		s.expect(':')
		raw := s.text()
		how := c.shape(raw)
		if how&malformed != 0 {
			return fmt.Errorf("%w: it has an unknown escape", errRecord)
		}
		c.write(raw, how)
	}
	s.expect('}')
	if s.failed || len(s.rest) > 0 {
		return errRecord
	}
	c.out.write([]byte("\r\n"))
	return nil
}

// shape is what there is to know of a value before it is written.
type shape int

const (
	quoted    shape = 1 << iota // it stands in quotes
	escaped                     // it has escapes that are to be undone
	malformed                   // its escapes cannot be undone
)

func quoteIf(yes bool) shape {
	if yes {
		return quoted
	}
	return 0
}

const (
	otherSeparators = ";|\t"
	byteOrderMark   = "\uFEFF"
)

// shape looks at a value, given as it stands between the quotes of JSON.
func (c *csvWriter) shape(raw []byte) shape {
	if len(raw) == 0 {
		return quoteIf(c.fields == 1) // the line must not be blank
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return quoteIf(bytes.IndexByte(raw, ',') >= 0 || isBlank(raw[0]) || isBlank(raw[len(raw)-1]) ||
			bytes.HasPrefix(raw, []byte(byteOrderMark)))
	}
	how := escaped
	last := byte(0)
	first := true
	ok := c.pieces(raw, func(p []byte) {
		// JSON escapes all that must be quoted but the comma, so it is a piece of its own.
		if p[0] == '"' || p[0] == '\r' || p[0] == '\n' || bytes.IndexByte(p, ',') >= 0 ||
			first && (isBlank(p[0]) || bytes.HasPrefix(p, []byte(byteOrderMark))) {
			how |= quoted
		}
		first, last = false, p[len(p)-1]
	})
	if !ok {
		return malformed
	}
	return how | quoteIf(isBlank(last))
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// write writes a value.
func (c *csvWriter) write(raw []byte, how shape) {
	if how&quoted != 0 {
		c.out.byte('"')
		defer c.out.byte('"')
	}
	if how&escaped == 0 {
		c.out.write(raw)
		return
	}
	c.pieces(raw, func(p []byte) {
		if p[0] == '"' { // again, it is a piece of its own
			c.out.byte('"')
		}
		c.out.write(p)
	})
}

// pieces calls f with the pieces of a JSON string, none of them empty: what lies between two escapes, and what each
// escape stands for. It returns false where an escape cannot be understood.
func (c *csvWriter) pieces(raw []byte, f func(piece []byte)) bool {
	for len(raw) > 0 {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			f(raw)
			return true
		}
		if i > 0 {
			f(raw[:i])
		}
		r, size := unescape(raw[i:])
		if size == 0 {
			return false
		}
		f(utf8.AppendRune(c.scratch[:0], r))
		raw = raw[i+size:]
	}
	return true
}

// unescape returns what the escape at the beginning of raw stands for, and its length; 0 if it stands for nothing.
func unescape(raw []byte) (r rune, size int) {
	if len(raw) < 2 {
		return 0, 0
	}
	switch raw[1] {
	case '"', '\\', '/':
		return rune(raw[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		if r, ok := hex4(raw); ok {
			if !utf16.IsSurrogate(r) {
				return r, 6
			}
			if low, ok := hex4(raw[6:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
				return utf16.DecodeRune(r, low), 12
			}
			return utf8.RuneError, 6
		}
	}
	return 0, 0
}

// hex4 reads \uXXXX.
func hex4(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(n), err == nil
}

// scanner reads JSON that has no white space between its tokens.
type scanner struct {
	rest   []byte
	failed bool
}

// expect reads one byte, which must be this one.
func (s *scanner) expect(b byte) {
	if s.failed || len(s.rest) == 0 || s.rest[0] != b {
		s.failed = true
		return
	}
	s.rest = s.rest[1:]
}

// text reads a string and returns what is between its quotes.
func (s *scanner) text() []byte {
	s.expect('"')
	for at := 0; !s.failed; {
		i := bytes.IndexByte(s.rest[at:], '"')
		if i < 0 {
			s.failed = true
			break
		}
		i += at
		backslashes := 0
		for backslashes < i && s.rest[i-backslashes-1] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			raw := s.rest[:i]
			s.rest = s.rest[i+1:]
			return raw
		}
		at = i + 1
	}
	return nil
}
