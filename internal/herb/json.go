package herb

import "strings"

// AppendJSON appends the record as a JSON object with the fields in order. Values round-trip exactly; only what JSON
// requires is escaped.
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
