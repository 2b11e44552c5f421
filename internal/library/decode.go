package library

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// decoder reads records back from their JSON. It shares no code with the encoder, so that an encoder bug cannot hide itself.
// It accepts a flat object of strings without whitespace, which is how records are written, and rejects whatever
// encoding/json rejects.
type decoder struct {
	names []string
	rest  []byte
	text  []byte // buffer for unescaping
}

func newDecoder(fields []herb.Field) *decoder {
	d := &decoder{}
	for _, f := range fields {
		d.names = append(d.names, f.Name)
	}
	return d
}

var errShape = errors.New("not a flat object of strings")

// record calls cell with the values of a record in field order. A value is valid during the call only.
func (d *decoder) record(json []byte, cell func(value []byte)) error {
	d.rest = json
	for i, name := range d.names {
		opening := byte(',')
		if i == 0 {
			opening = '{'
		}
		if !d.skip(opening) {
			return errShape
		}
		got, err := d.string()
		if err != nil {
			return err
		}
		if string(got) != name {
			return fmt.Errorf("member %d is named %q; want %q", i+1, got, name)
		}
		if !d.skip(':') {
			return errShape
		}
		value, err := d.string()
		if err != nil {
			return err
		}
		cell(value)
	}
	if len(d.names) == 0 && !d.skip('{') || !d.skip('}') || len(d.rest) > 0 {
		return errShape
	}
	return nil
}

func (d *decoder) skip(c byte) bool {
	if len(d.rest) == 0 || d.rest[0] != c {
		return false
	}
	d.rest = d.rest[1:]
	return true
}

// string reads a string. The result is valid until the next call.
func (d *decoder) string() ([]byte, error) {
	if !d.skip('"') {
		return nil, errShape
	}
	n := plainPrefix(d.rest)
	if n < len(d.rest) && d.rest[n] == '"' {
		s := d.rest[:n]
		d.rest = d.rest[n+1:]
		return checkUTF8(s)
	}
	d.text = d.text[:0]
	for {
		d.text = append(d.text, d.rest[:n]...)
		d.rest = d.rest[n:]
		switch {
		case d.skip('"'):
			return checkUTF8(d.text)
		case d.skip('\\'):
			if err := d.escape(); err != nil {
				return nil, err
			}
		default:
			return nil, errors.New("control character in string, or unterminated string")
		}
		n = plainPrefix(d.rest)
	}
}

func checkUTF8(s []byte) ([]byte, error) {
	if !utf8.Valid(s) {
		return nil, errors.New("invalid UTF-8 in string")
	}
	return s, nil
}

// plainPrefix returns the number of bytes before the first quote, backslash or control character.
func plainPrefix(b []byte) int {
	const (
		ones = 0x0101010101010101
		high = 0x8080808080808080
	)
	at := 0
	for ; len(b)-at >= 8; at += 8 {
		x := binary.LittleEndian.Uint64(b[at:])
		quote, backslash := x^('"'*ones), x^('\\'*ones)
		// The lowest set bit marks the first match; higher bits may be false positives.
		found := ((quote - ones) &^ quote) | ((backslash - ones) &^ backslash) | ((x - ' '*ones) &^ x)
		if found &= high; found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	for ; at < len(b); at++ {
		if c := b[at]; c < ' ' || c == '"' || c == '\\' {
			break
		}
	}
	return at
}

// escape reads the rest of an escape sequence, after the backslash.
func (d *decoder) escape() error {
	if len(d.rest) == 0 {
		return errors.New("unterminated string")
	}
	c := d.rest[0]
	d.rest = d.rest[1:]
	switch c {
	case '"', '\\', '/':
		d.text = append(d.text, c)
	case 'b':
		d.text = append(d.text, '\b')
	case 'f':
		d.text = append(d.text, '\f')
	case 'n':
		d.text = append(d.text, '\n')
	case 'r':
		d.text = append(d.text, '\r')
	case 't':
		d.text = append(d.text, '\t')
	case 'u':
		return d.unicode()
	default:
		return fmt.Errorf("unknown escape in string: \\%c", c)
	}
	return nil
}

// unicode reads the rest of a \u escape, and a second escape if the first is a surrogate. A lone surrogate is rejected
// because it does not encode a character.
func (d *decoder) unicode() error {
	r, err := d.hex()
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(r) {
		if !d.skip('\\') || !d.skip('u') {
			return errors.New("lone surrogate in string")
		}
		second, err := d.hex()
		if err != nil {
			return err
		}
		if r = utf16.DecodeRune(r, second); r == utf8.RuneError {
			return errors.New("lone surrogate in string")
		}
	}
	d.text = utf8.AppendRune(d.text, r)
	return nil
}

func (d *decoder) hex() (rune, error) {
	if len(d.rest) < 4 {
		return 0, errors.New("unterminated string")
	}
	r := rune(0)
	for _, c := range d.rest[:4] {
		r <<= 4
		switch {
		case '0' <= c && c <= '9':
			r |= rune(c - '0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r |= rune(c|0x20-'a') + 10
		default:
			return 0, fmt.Errorf("unknown escape in string: \\u%s", d.rest[:4])
		}
	}
	d.rest = d.rest[4:]
	return r, nil
}
