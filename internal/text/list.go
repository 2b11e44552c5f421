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
		e = strings.TrimSpace(e)
		if e != "" {
			out = append(out, e)
		}
	}
	return out
}

// ParseArray returns the elements of a JSON array of plain values: texts, the digits of numbers,
// true and false, and an empty string for null. ok is false if v is anything else.
func ParseArray(v []byte) (elements []string, ok bool) {
	v = TrimBlanks(v)
	if len(v) < len("[]") || v[0] != '[' || v[len(v)-1] != ']' {
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

// AppendList appends the elements of a JSON array of plain values with commas between them. ok is
// false, and nothing is appended, if the elements could not be told apart then: one has a comma, is
// empty or null, or begins like an array. It is the only rule that decides how a list is written.
func AppendList(dst, array []byte) (list []byte, ok bool) {
	elements := TrimBlanks(array)
	if len(elements) < len("[1]") || elements[0] != '[' || elements[len(elements)-1] != ']' {
		return dst, false
	}
	list = dst
	for element := range bytes.SplitSeq(elements[1:len(elements)-1], []byte{','}) {
		from := len(list)
		element = bytes.TrimSpace(element)
		if !json.Valid(element) { // part of a text with a comma
			return dst, false
		}
		switch first := element[0]; {
		case first == '[' || first == '{' || first == 'n':
			return dst, false
		case first == '"' && bytes.IndexByte(element, '\\') >= 0:
			var unescaped string
			if json.Unmarshal(element, &unescaped) != nil {
				return dst, false
			}
			list = append(list, unescaped...)
		default:
			list = append(list, bytes.Trim(element, `"`)...)
		}
		if len(list) == from || list[from] == '[' || bytes.IndexByte(list[from:], ',') >= 0 {
			return dst, false
		}
		list = append(list, ',')
	}
	return list[:len(list)-1], true
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
