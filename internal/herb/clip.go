package herb

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// DecodeClipped returns the values of a record with the given fields, each up to its limit in
// bytes, for pages that show only the start of a long value. It does not check the rest of a value.
func DecodeClipped(fields []Field, record []byte, limit func(field int) int) (Record, error) {
	values := make(Record, len(fields))
	rest := record
	for i := range fields {
		name := JSONStringEnd(rest, 1) // after { or ,
		end := JSONStringEnd(rest, name+1)
		if end <= 0 {
			return nil, errRecord
		}
		if most := limit(i); most > 0 {
			var err error
			if values[i], err = clipJSONString(rest[name+2:end-1], most); err != nil {
				return nil, fmt.Errorf("field %q: %w", fields[i].Name, err)
			}
		}
		rest = rest[end:]
	}
	if string(rest) != "}" {
		return nil, errRecord
	}
	return values, nil
}

// clipJSONString returns the start of the text that is between the quotes of a JSON string, in
// whole characters.
func clipJSONString(s []byte, limit int) (string, error) {
	text := make([]byte, 0, min(len(s), limit))
	for len(s) > 0 {
		plain := bytes.IndexByte(s[:min(len(s), limit-len(text)+1)], '\\')
		if plain < 0 {
			plain = min(len(s), limit-len(text)+utf8.UTFMax)
		}
		text = append(text, s[:plain]...)
		if s = s[plain:]; len(text) > limit || len(s) == 0 {
			break
		}
		if s[0] != '\\' {
			continue
		}
		r, size := Unescape(s[1:])
		if size == 0 {
			return "", errEscape
		}
		text, s = utf8.AppendRune(text, r), s[1+size:]
	}
	if len(text) > limit {
		end := limit
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	return string(text), nil
}

// JSONStringEnd returns the index after the JSON string that begins at an index of b, or -1 if
// there is none. It does not check what the string contains.
func JSONStringEnd(b []byte, at int) int {
	if at <= 0 || at >= len(b) || b[at] != '"' {
		return -1
	}
	at++
	for quote := at - 1; ; {
		if quote < at {
			i := bytes.IndexByte(b[at:], '"')
			if i < 0 {
				return -1
			}
			quote = at + i
		}
		escape := bytes.IndexByte(b[at:quote], '\\')
		if escape < 0 {
			return quote + 1
		}
		if at += escape + 2; at > len(b) { // skips what the backslash escapes
			return -1
		}
	}
}
