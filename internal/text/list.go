package text

import (
	"bytes"
	"encoding/json"
	"strings"

	"herbarium/internal/herb"
)

// Elements returns the elements of a value of a list field: the comma-separated parts, trimmed, or
// those of a JSON array if the notation of the field says so. Empty elements and null are skipped.
// A value that is no array has comma-separated parts in any notation.
func Elements(f *herb.Field, value string) []string {
	var out []string
	if f.Notation.JSON {
		if elements, ok := ParseArray([]byte(value)); ok {
			for _, e := range elements {
				if e != "" {
					out = append(out, e)
				}
			}
			return out
		}
	}
	for e := range strings.SplitSeq(value, ",") {
		if e = strings.TrimSpace(e); e != "" {
			out = append(out, e)
		}
	}
	return out
}

// ParseArray returns the elements of a JSON array of plain values: texts, the digits of numbers,
// true and false, and an empty string for null. ok is false if v is anything else.
func ParseArray(v []byte) (elements []string, ok bool) {
	if v = TrimBlanks(v); len(v) < len("[]") || v[0] != '[' || v[len(v)-1] != ']' {
		return nil, false
	}
	var raw []json.RawMessage
	if json.Unmarshal(v, &raw) != nil {
		return nil, false
	}
	elements = make([]string, len(raw))
	for i, r := range raw {
		switch r[0] {
		case '[', '{':
			return nil, false
		case 'n': // null
		case '"':
			if json.Unmarshal(r, &elements[i]) != nil {
				return nil, false
			}
		default:
			elements[i] = string(r)
		}
	}
	return elements, true
}

// IsTextArray reports whether v is a JSON array of plain values, and whether one of them is text.
func IsTextArray(v []byte) (hasText, ok bool) {
	_, ok = ParseArray(v)
	return ok && bytes.IndexByte(v, '"') >= 0, ok
}

// SearchText returns the text of a value in which words are searched. It is the value itself,
// except for JSON arrays, whose escapes are no text.
func SearchText(f *herb.Field, value string) string {
	if !f.Notation.JSON {
		return value
	}
	return strings.Join(Elements(f, value), ", ")
}
