package typed

import (
	"bytes"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// AppendJSON appends a value of a field as a literal of typed JSON: a number with its digits as
// written, true or false, an array of texts, null for a missing value, and a text for anything
// else. Dates, datetimes and times are texts in canonical form (ISO 8601): a datetime without a
// zone has none, and one with a zone is in UTC.
func (c Column) AppendJSON(dst []byte, field *herb.Field, value string) []byte {
	switch c.Kind {
	case Text:
		if text.MissingPosition(field, value) >= 0 {
			return append(dst, "null"...)
		}
		return herb.AppendJSONString(dst, value)
	case List:
		if value == "" {
			return append(dst, "null"...)
		}
		return appendArray(dst, text.Elements(field, value))
	}
	var buf [64]byte
	canonical, status := text.AppendCanonical(buf[:0], field, []byte(value))
	if status != text.Valid {
		return append(dst, "null"...)
	}
	if c.Kind == Timestamp {
		canonical = c.trimTimestamp(canonical)
	}
	if c.IsNumber() || c.Kind == Boolean {
		return append(dst, canonical...)
	}
	return herb.AppendJSONString(dst, string(canonical))
}

// trimTimestamp removes the zeros at the end of the fraction of a canonical datetime, and its zone
// if the column has none.
func (c Column) trimTimestamp(canonical []byte) []byte {
	canonical = bytes.TrimRight(bytes.TrimSuffix(canonical, []byte{'Z'}), "0")
	canonical = bytes.TrimSuffix(canonical, []byte{'.'})
	if c.Zoned {
		canonical = append(canonical, 'Z')
	}
	return canonical
}

func appendArray(dst []byte, elements []string) []byte {
	dst = append(dst, '[')
	for i, e := range elements {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = herb.AppendJSONString(dst, e)
	}
	return append(dst, ']')
}
