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

// csvWriter converts records, JSON objects of strings, to CSV lines. It unescapes values piecewise and never buffers a
// whole value.
type csvWriter struct {
	out     *sink
	fields  int
	scratch [utf8.UTFMax]byte // an unescaped character
}

var errRecord = errors.New("export: record is not an object of strings")

// header writes the field names.
func (c *csvWriter) header(fields []herb.Field) {
	for i, f := range fields {
		if i > 0 {
			c.out.byte(',')
		}
		raw := herb.AppendJSONString(nil, f.Name)
		raw = raw[1 : len(raw)-1]
		c.write(raw, c.encodingOf(raw)|quoteIf(strings.ContainsAny(f.Name, otherSeparators)))
	}
	c.out.write([]byte("\r\n"))
}

// record writes one line.
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
		enc := c.encodingOf(raw)
		if enc&malformed != 0 {
			return fmt.Errorf("%w: invalid escape", errRecord)
		}
		c.write(raw, enc)
	}
	s.expect('}')
	if s.failed || len(s.rest) > 0 {
		return errRecord
	}
	c.out.write([]byte("\r\n"))
	return nil
}

// encoding describes how a value must be written.
type encoding int

const (
	quoted    encoding = 1 << iota // in quotes
	escaped                        // contains JSON escapes
	malformed                      // contains invalid JSON escapes
)

func quoteIf(yes bool) encoding {
	if yes {
		return quoted
	}
	return 0
}

const (
	otherSeparators = ";|\t"
	byteOrderMark   = "\uFEFF"
)

// encodingOf returns the encoding of a value, given as it appears between the quotes of JSON.
func (c *csvWriter) encodingOf(raw []byte) encoding {
	if len(raw) == 0 {
		return quoteIf(c.fields == 1) // the line must not be blank
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return quoteIf(bytes.IndexByte(raw, ',') >= 0 || isBlank(raw[0]) || isBlank(raw[len(raw)-1]) ||
			bytes.HasPrefix(raw, []byte(byteOrderMark)))
	}
	enc := escaped
	last := byte(0)
	first := true
	ok := c.pieces(raw, func(p []byte) {
		// JSON escapes all characters that need quotes except the comma, so an escaped one is a piece of its own.
		if p[0] == '"' || p[0] == '\r' || p[0] == '\n' || bytes.IndexByte(p, ',') >= 0 ||
			first && (isBlank(p[0]) || bytes.HasPrefix(p, []byte(byteOrderMark))) {
			enc |= quoted
		}
		first, last = false, p[len(p)-1]
	})
	if !ok {
		return malformed
	}
	return enc | quoteIf(isBlank(last))
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// write writes a value.
func (c *csvWriter) write(raw []byte, enc encoding) {
	if enc&quoted != 0 {
		c.out.byte('"')
		defer c.out.byte('"')
	}
	if enc&escaped == 0 {
		c.out.write(raw)
		return
	}
	c.pieces(raw, func(p []byte) {
		if p[0] == '"' { // escaped in JSON, so it is a piece of its own
			c.out.byte('"')
		}
		c.out.write(p)
	})
}

// pieces calls f for each non-empty piece of a JSON string: text between escapes, and the character of each escape. It
// returns false if an escape is invalid.
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

// unescape returns the character of the escape at the start of raw and the length of the escape; 0 if it is invalid.
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

// hex4 parses \uXXXX.
func hex4(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(n), err == nil
}

// scanner reads JSON without white space between tokens.
type scanner struct {
	rest   []byte
	failed bool
}

// expect reads one byte, which must be b.
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
