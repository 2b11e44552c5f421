package herb

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendJSON appends the record as a JSON object with the fields in order. Values round-trip
// exactly; only what JSON requires is escaped.
func (r Record) AppendJSON(dst []byte, fields []Field) []byte {
	dst = append(dst, '{')
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendJSONString(dst, f.Name)
		dst = append(dst, ':')
		dst = AppendJSONString(dst, r[i])
	}
	return append(dst, '}')
}

// AppendJSONString appends s, which must be valid UTF-8, as a JSON string.
func AppendJSONString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		if k := strings.IndexByte("\"\\\n\r\t", c); k >= 0 {
			dst = append(dst, '\\', `"\nrt`[k])
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xF])
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// RecordDecoder decodes records: flat JSON objects of strings without white space, as AppendJSON
// writes them. It shares no code with the encoder, so that a bug of the encoder cannot hide itself,
// and rejects what encoding/json rejects.
type RecordDecoder struct {
	fields []Field
	rest   []byte
	text   []byte // buffer for unescaping
}

// NewRecordDecoder returns a decoder of records with the given fields.
func NewRecordDecoder(fields []Field) *RecordDecoder { return &RecordDecoder{fields: fields} }

// DecodeRecords returns the values of records with the given fields.
func DecodeRecords(fields []Field, records [][]byte) ([]Record, error) {
	all, decoder := make([]Record, len(records)), NewRecordDecoder(fields)
	for i, record := range records {
		all[i] = make(Record, 0, len(fields))
		if err := decoder.Decode(record, func(v []byte) { all[i] = append(all[i], string(v)) }); err != nil {
			return nil, fmt.Errorf("record %d: %w", i+1, err)
		}
	}
	return all, nil
}

var (
	errRecord = errors.New("record is not a flat object of strings")
	errString = errors.New("unterminated string, or control character in a string")
	errEscape = errors.New("invalid escape in a string")
)

// Decode calls cell with the values of a record in the order of the fields. A value is valid only
// during the call.
func (d *RecordDecoder) Decode(record []byte, cell func(value []byte)) error {
	d.rest = record
	opening := byte('{')
	for _, f := range d.fields {
		if !d.skip(opening) {
			return errRecord
		}
		opening = ','
		name, err := d.string()
		if err != nil {
			return err
		}
		if string(name) != f.Name {
			return fmt.Errorf("record has member %q; want %q", name, f.Name)
		}
		if !d.skip(':') {
			return errRecord
		}
		value, err := d.string()
		if err != nil {
			return err
		}
		cell(value)
	}
	if len(d.fields) == 0 && !d.skip('{') || !d.skip('}') || len(d.rest) > 0 {
		return errRecord
	}
	return nil
}

// skip reads a byte if it is c.
func (d *RecordDecoder) skip(c byte) bool {
	if len(d.rest) == 0 || d.rest[0] != c {
		return false
	}
	d.rest = d.rest[1:]
	return true
}

// string reads a string. The result is valid until the next call.
func (d *RecordDecoder) string() (s []byte, err error) {
	if !d.skip('"') {
		return nil, errRecord
	}
	d.text = d.text[:0]
	for {
		n := len(d.rest)
		for i, c := range d.rest {
			if c < ' ' || c == '"' || c == '\\' {
				n = i
				break
			}
		}
		plain := d.rest[:n]
		d.rest = d.rest[n:]
		switch {
		case d.skip('"'):
			if len(d.text) > 0 {
				d.text = append(d.text, plain...)
				plain = d.text
			}
			if !utf8.Valid(plain) {
				return nil, errors.New("invalid UTF-8 in a string")
			}
			return plain, nil
		case d.skip('\\'):
			r, size := Unescape(d.rest)
			if size == 0 {
				return nil, errEscape
			}
			d.rest = d.rest[size:]
			d.text = utf8.AppendRune(append(d.text, plain...), r)
		default:
			return nil, errString
		}
	}
}

// Unescape returns the character of the JSON escape at the start of b, after the backslash, and its
// length; 0 if it is invalid. A lone surrogate is invalid, because it does not encode a character.
func Unescape(b []byte) (r rune, size int) {
	if len(b) == 0 {
		return 0, 0
	}
	if i := strings.IndexByte(`"\/bfnrt`, b[0]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 1
	}
	r, ok := hex4(b)
	switch {
	case !ok:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 5
	case len(b) < 11 || b[5] != '\\':
		return 0, 0
	}
	low, _ := hex4(b[6:])
	r = utf16.DecodeRune(r, low)
	if r == utf8.RuneError {
		return 0, 0
	}
	return r, 11
}

// hex4 parses uXXXX.
func hex4(b []byte) (rune, bool) {
	if len(b) < 5 || b[0] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[1:5]), 16, 16)
	return rune(n), err == nil
}
