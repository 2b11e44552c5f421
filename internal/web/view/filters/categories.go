package filters

import (
	"strings"

	"herbarium/internal/query"
	"herbarium/internal/text"
	"herbarium/internal/web/view/state"
)

// maxFoundCategories is the number of categories that a search for values finds.
const maxFoundCategories = 50

// FindCategories returns the filters that find the rows with a category of the field that contains
// a text in its value or its label, ignoring case and accents; nil if there is none.
func (f *Filter) FindCategories(s *state.State, part string) (found query.Params) {
	part = text.Fold(part)
	for _, c := range f.Categories {
		if len(found) == maxFoundCategories {
			break
		}
		if strings.Contains(text.Fold(c.Value), part) || strings.Contains(text.Fold(c.Label), part) {
			found = append(found, s.EqFilter(f.Index, c.Value))
		}
	}
	return found
}
