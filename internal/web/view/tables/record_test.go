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
		for _, link := range newValue(&s, 0, tt.value, newHighlighter(nil)).Elements {
			if shown += link.Label; link.Href != "" {
				hrefs = append(hrefs, link.Href)
			}
		}
		if got := strings.Join(hrefs, " "); shown != tt.shown || got != tt.href {
			t.Errorf("%s: shown as %q with the links %q, want %q and %q", tt.value, shown, got, tt.shown, tt.href)
		}
	}
}
