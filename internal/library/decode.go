package library

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// decoder reads records back from their JSON. It shares no code with the encoder, so that an encoder bug cannot hide itself.
// It accepts a flat object of strings without whitespace, which is how records are written, and rejects whatever
// encoding/json rejects. It is many times as fast as encoding/json, which it uses for strings with escapes only.
type decoder struct {
	names []string
	rest  []byte
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
	escaped := false
	for i := 0; i < len(d.rest); i++ {
		switch c := d.rest[i]; {
		case c == '\\':
			escaped = true
			i++ // an escaped quote does not end the string
		case c < ' ':
			return nil, errors.New("control character in string")
		case c == '"':
			s := d.rest[:i]
			d.rest = d.rest[i+1:]
			switch {
			case !utf8.Valid(s):
				return nil, errors.New("invalid UTF-8 in string")
			case escaped:
				return unescape(s)
			}
			return s, nil
		}
	}
	return nil, errors.New("unterminated string")
}

// unescape replaces escape sequences. A lone surrogate becomes U+FFFD, which changes the content hash.
func unescape(s []byte) ([]byte, error) {
	var text string
	err := json.Unmarshal(slices.Concat([]byte{'"'}, s, []byte{'"'}), &text)
	return []byte(text), err
}
