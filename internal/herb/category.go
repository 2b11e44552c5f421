package herb

import "strings"

// Category is one of the values that a field may have, with its category label: what the value
// means to a reader.
type Category struct {
	Value string `json:"value"`
	Label string `json:"label,omitempty"` // empty: the value has none
}

// String returns the value with its label, as in "1 = living".
func (c Category) String() string {
	if c.Label == "" {
		return c.Value
	}
	return c.Value + " = " + c.Label
}

// ListCategories returns the first categories on one line, as in "1 = living, 2 = removed".
func ListCategories(categories []Category) string {
	const most, longest = 20, 60 // categories, and characters of one
	var listed []string
	for _, c := range categories[:min(len(categories), most)] {
		listed = append(listed, Clip(c.String(), longest))
	}
	if more := len(categories) - most; more > 0 {
		listed = append(listed, Plural(more, "other", "others"))
	}
	return strings.Join(listed, ", ")
}

// HasCategoryLabels reports whether a value of the field has a category label.
func (f *Field) HasCategoryLabels() bool {
	for i := range f.Categories {
		if f.Categories[i].Label != "" {
			return true
		}
	}
	return false
}

// CategoriesSize returns the number of bytes of the categories of the field.
func CategoriesSize(categories []Category) (bytes int) {
	for _, c := range categories {
		bytes += len(c.Value) + len(c.Label)
	}
	return bytes
}
