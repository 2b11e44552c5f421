package columns

import (
	"herbarium/internal/herb"
	"herbarium/internal/text"
	"herbarium/internal/web/view/format"
)

// BoundKey returns the sort key of the end of a range; ok is false if it is not a value of the
// field.
func BoundKey(f *herb.Field, bound string) (key string, ok bool) {
	canonical, status := text.Bound(f, bound)
	if status != text.Valid {
		return "", false
	}
	return text.Key(f.Type, canonical)
}

// FormatOperand formats a value to compare with as the table shows it.
func FormatOperand(c *Column, value string) string {
	switch c.Type {
	case herb.TypeNumber:
		return c.Number(value)
	case herb.TypeDate, herb.TypeDateTime:
		return format.Time(&c.Field, value)
	}
	return value
}
