package columns

import (
	"strings"

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

// ShortOperand formats the end of a range in little space.
func ShortOperand(c *Column, value string) string {
	switch {
	case c.IsCode && isDigits(value) && len(value) <= format.LongNumber:
		return value
	case c.Type == herb.TypeNumber:
		return shortNumber(&c.Field, value)
	case c.Type == herb.TypeDuration:
		return format.CompactDuration(value)
	case c.Type == herb.TypeDateTime:
		day, _, _ := strings.Cut(format.Time(&c.Field, value), " ")
		return day
	}
	return format.Time(&c.Field, value)
}

// shortNumber formats a number as a label, such as 1.2 M.
func shortNumber(f *herb.Field, value string) string {
	canonical, status := text.Operand(f, value)
	if status != text.Valid {
		return herb.Clip(value, format.LongNumber)
	}
	return format.Compact(canonical)
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
