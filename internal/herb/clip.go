package herb

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// DecodeClipped returns the values of a record with the given fields, each up to its limit in
// bytes, for pages that show only the start of a long value. It does not check the rest of a value.
func DecodeClipped(fields []Field, record []byte, limit func(field int) int) (Record, error) {
	values := make(Record, len(fields))
	rest := record
	for i := range fields {
		name, end := memberEnds(rest)
		if end < 0 {
			return nil, errRecord
		}
		if most := limit(i); most > 0 {
			var err error
			values[i], err = clipJSONString(rest[name+2:end-1], most)
			if err != nil {
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

// AppendMembers appends the members of a record with a number of fields, each as "name":"value".
func AppendMembers(dst [][]byte, record []byte, fields int) ([][]byte, error) {
	before := len(dst)
	for rest := record; len(rest) > 1; {
		_, end := memberEnds(rest)
		if end < 0 {
			return dst, errRecord
		}
		dst = append(dst, rest[1:end])
		rest = rest[end:]
	}
	if len(dst)-before != fields {
		return dst, errors.New("members of a record differ from its fields")
	}
	return dst, nil
}

// memberEnds returns the ends of the name and the value of the first member of the rest of a
// record, which begins with a brace or a comma. end is negative if there is none.
func memberEnds(rest []byte) (name, end int) {
	name = JSONStringEnd(rest, 1)
	if name < 0 {
		return name, -1
	}
	return name, JSONStringEnd(rest, name+1)
}

// MemberValue returns the value of a member of a record, a JSON string.
func MemberValue(member []byte) []byte {
	return member[min(len(member), JSONStringEnd(member, 0)+1):]
}

// MemberText returns the value of a member of a record.
func MemberText(member []byte) (string, error) {
	value := MemberValue(member)
	if len(value) < len(`""`) {
		return "", errString
	}
	return UnescapeJSON(value[1 : len(value)-1])
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
		s = s[plain:]
		if len(text) > limit || len(s) == 0 {
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

// UnescapeJSON returns the text that is between the quotes of a JSON string.
func UnescapeJSON(s []byte) (string, error) {
	if bytes.IndexByte(s, '\\') < 0 {
		return string(s), nil
	}
	return clipJSONString(s, len(s)) // an escape is longer than its character
}

// JSONStringEnd returns the index after the JSON string that begins at an index of b, or -1 if
// there is none. It does not check what the string contains.
func JSONStringEnd(b []byte, at int) int {
	if at < 0 || at >= len(b) || b[at] != '"' {
		return -1
	}
	for {
		i := bytes.IndexByte(b[at+1:], '"')
		if i < 0 {
			return -1
		}
		at += 1 + i
		escapes := 0 // before the quote; they end at the opening quote or an earlier character
		for b[at-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at + 1
		}
	}
}
