package text

import (
	"cmp"

	"herbarium/internal/herb"
)

// Categories finds the category of a value. The zero value has none. It is safe for concurrent use.
type Categories struct {
	field     *herb.Field
	positions map[string]int // by CategoryKey
	isLabeled bool
}

// NewCategories returns the categories of a field.
func NewCategories(f *herb.Field) (c Categories) {
	if len(f.Categories) == 0 {
		return c
	}
	c = Categories{f, make(map[string]int, len(f.Categories)), f.HasCategoryLabels()}
	for i := range f.Categories {
		key, _ := DeclaredKey(f, f.Categories[i].Value)
		c.positions[key] = i
	}
	return c
}

// HasLabels reports whether a category has a label.
func (c Categories) HasLabels() bool { return c.isLabeled }

// Label returns the category label of a value as written; empty if it has none.
func (c Categories) Label(value string) string {
	i := c.Position(value)
	if i < 0 {
		return ""
	}
	return c.field.Categories[i].Label
}

// Position returns the position of the category of a value as written; -1 if it has none.
func (c Categories) Position(value string) int {
	if c.positions == nil || value == "" {
		return -1
	}
	i, ok := c.positions[CategoryKey(c.field, value)]
	if !ok {
		return -1
	}
	return i
}

// Compare orders values by their categories; those without one are last.
func (c Categories) Compare(a, b string) int {
	return cmp.Compare(uint(c.Position(a)), uint(c.Position(b))) // -1 is the greatest
}

// DeclaredKey returns the CategoryKey of a value in a descriptor, which may be in the notation of
// the field or of its type. ok is false if it is not valid for the type.
func DeclaredKey(f *herb.Field, value string) (key string, ok bool) {
	if !f.Type.IsScalar() {
		return value, true
	}
	canonical, status := Bound(f, value)
	if status != Valid {
		return "", false
	}
	return Key(f.Type, canonical)
}

// CategoryKey returns what equal values of a field with categories have in common: numbers are
// equal by value, texts as written.
func CategoryKey(f *herb.Field, value string) string {
	if f.Type.IsScalar() {
		if key, status := FieldKey(f, value); status == Valid {
			return key
		}
	}
	return value
}
