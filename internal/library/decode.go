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

// decoder reads records back from their JSON. It shares no code with what writes them, so that a fault there cannot hide
// itself. It takes the JSON of a flat object of strings without blanks, which is how records are written, and refuses
// everything that encoding/json would refuse.
type decoder struct {
	names []string
	rest  []byte
	text  []byte // where escapes are undone
}

func newDecoder(fields []herb.Field) *decoder {
	d := &decoder{}
	for _, f := range fields {
		d.names = append(d.names, f.Name)
	}
	return d
}

var errShape = errors.New("it is not a flat object of strings")

// record calls cell with the values of a record in the order of the fields. They are valid during the call.
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
			return fmt.Errorf("member %d is called %q; it should be %q", i+1, got, name)
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

// string reads a string. What it returns is valid until the next call.
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
			return nil, errors.New("a string has a control character in it, or no end")
		}
		n = plainPrefix(d.rest)
	}
}

func checkUTF8(s []byte) ([]byte, error) {
	if !utf8.Valid(s) {
		return nil, errors.New("a string is not UTF-8")
	}
	return s, nil
}

// plain counts the bytes up to the first that is a quote, a backslash or a control character.
func plainPrefix(b []byte) int {
	const (
		each = 0x0101010101010101
		high = 0x8080808080808080
	)
	at := 0
	for ; len(b)-at >= 8; at += 8 {
		x := binary.LittleEndian.Uint64(b[at:])
		quote, backslash := x^('"'*each), x^('\\'*each)
		// The lowest bit that is set marks the first byte looked for; those above it may be wrong.
		found := ((quote - each) &^ quote) | ((backslash - each) &^ backslash) | ((x - ' '*each) &^ x)
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

// escape reads what follows a backslash.
func (d *decoder) escape() error {
	if len(d.rest) == 0 {
		return errors.New("a string has no end")
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
		return fmt.Errorf("a string has the unknown escape \\%c", c)
	}
	return nil
}

// unicode reads what follows \u, and a second escape if the first is half a character. Half a character alone is refused:
// there is no telling what it was.
func (d *decoder) unicode() error {
	r, err := d.hex()
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(r) {
		if !d.skip('\\') || !d.skip('u') {
			return errors.New("a string has half a character")
		}
		second, err := d.hex()
		if err != nil {
			return err
		}
		if r = utf16.DecodeRune(r, second); r == utf8.RuneError {
			return errors.New("a string has half a character")
		}
	}
	d.text = utf8.AppendRune(d.text, r)
	return nil
}

func (d *decoder) hex() (rune, error) {
	if len(d.rest) < 4 {
		return 0, errors.New("a string has no end")
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
			return 0, fmt.Errorf("a string has the unknown escape \\u%s", d.rest[:4])
		}
	}
	d.rest = d.rest[4:]
	return r, nil
}
