package tables

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/state"
)

// TestRecord_elements checks that a record shows a list as it is written, and that its links filter
// by the elements without blanks.
func TestRecord_elements(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		notation           herb.Notation
		value, shown, href string
	}{
		{herb.Notation{}, "a, b,,c ", "a, b,,c ", "?l=a ?l=b ?l=c"},
		{herb.Notation{JSON: true}, `["a, b", "c"]`, "a, b,c", "?l=a%2C+b ?l=c"},
		{herb.Notation{JSON: true}, `["a, b", "c`, "", ""}, // clipped
	} {
		fields := []herb.Field{{Name: "l", Type: herb.TypeList, Filterable: true, Notation: tt.notation}}
		s, _, err := state.ParseState("/p", query.Split(""), columns.Read(&herb.Dataset{Fields: fields}))
		if err != nil {
			t.Fatal(err)
		}
		var shown string
		var hrefs []string
		for _, link := range newValue(&s, 0, tt.value, noMarks()).Elements {
			shown += link.Label
			if link.Href != "" {
				hrefs = append(hrefs, link.Href)
			}
		}
		if got := strings.Join(hrefs, " "); shown != tt.shown || got != tt.href {
			t.Errorf("%s: shown as %q with the links %q, want %q and %q", tt.value, shown, got, tt.shown, tt.href)
		}
	}
}

// TestRecord_title checks that titles are words, or follow the name of their column.
func TestRecord_title(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		field       herb.Field
		value, want string
	}{
		{herb.Field{Name: "date", Type: herb.TypeDate, Notation: herb.Notation{Missing: []string{"NA"}}}, "NA", ""},
		{herb.Field{Name: "date", Type: herb.TypeDate}, "2024-02-29", "date 2024-02-29"},
		{herb.Field{Name: "line", Type: herb.TypeText}, "001", "line 001"},
		{herb.Field{Name: "plant", Type: herb.TypeText}, "Rose 1", "Rose 1"},
		{herb.Field{Name: "plant", Type: herb.TypeText}, "", ""},
	} {
		if got := Title(columns.Read(&herb.Dataset{Fields: []herb.Field{tt.field}}),
			herb.Record{tt.value}); got != tt.want {
			t.Errorf("the title of %s %q is %q, want %q", tt.field.Name, tt.value, got, tt.want)
		}
	}
}
