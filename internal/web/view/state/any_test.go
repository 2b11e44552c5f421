package state

import (
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
)

// TestState_groups checks links that join the filters of fields by or, and that a group loses a
// field together with its last filter.
func TestState_groups(t *testing.T) {
	t.Parallel()
	var fields []herb.Field
	for _, name := range []string{"a", "b", "c", "d"} {
		fields = append(fields, herb.Field{Name: name, Type: herb.TypeText, Filterable: true})
	}
	d := columns.Read(&herb.Dataset{Fields: fields, Records: 9})
	const filters = "a=1&b=2&b[ne]=3&c=4&d=5"
	for _, tt := range []struct{ any, words, toggled, withoutB string }{
		{"", "a is 1, b is 2, b is not 3, c is 4, d is 5", "_any=a,b", ""},
		{"_any=a,b", "a is 1 or b is 2 and b is not 3, c is 4, d is 5", "", ""},
		{"_any=b,c,a", "a is 1 or b is 2 and b is not 3 or c is 4, d is 5", "_any=a,c", "_any=c,a"},
		{"_any=c,d&_any=a,b", "a is 1 or b is 2 and b is not 3, c is 4 or d is 5", "_any=c,d", "_any=c,d"},
		{"_any=b,c", "a is 1, b is 2 and b is not 3 or c is 4, d is 5", "_any=b,c,a", ""},
	} {
		s, _, err := ParseState("/p", query.Split(strings.TrimSuffix(filters+"&"+tt.any, "&")), d)
		must.NoError(t, err)
		groups := func(ps query.Params) string {
			return ReadableQuery(ps.Without("a", "b", "b[ne]", "c", "d"))
		}
		if got := strings.Join(NewWords(&s, 3).Conditions, ", "); sorted(got) != sorted(tt.words) {
			t.Errorf("%s: %s; want %s", tt.any, got, tt.words)
		}
		if got := groups(s.ToggleOr(0, 1)); sorted(got) != sorted(tt.toggled) {
			t.Errorf("%s: toggled %s; want %s", tt.any, got, tt.toggled)
		}
		if got := groups(s.pruneGroups(s.WithoutFilters(1))); got != tt.withoutB {
			t.Errorf("%s: without b %s; want %s", tt.any, got, tt.withoutB)
		}
	}
	s, canonical, err := ParseState("/p", query.Split("a=1&b=&_any=a,b,c,e"), d)
	must.NoError(t, err)
	if got := ReadableQuery(s.Params()); canonical || got != "a=1&b=&_any=a,b,e" {
		t.Errorf("parsed as %s, canonical: %t", got, canonical)
	}
}

// sorted returns the letters of a text in their order, because fields of a group are in any order.
func sorted(s string) string {
	letters := strings.Split(s, "")
	slices.Sort(letters)
	return strings.Join(letters, "")
}
