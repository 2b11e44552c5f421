package filters

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/state"
)

// TestPresets checks that dates have presets up to the last date of the column.
func TestPresets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		typ      herb.Type
		notation herb.Notation
		last     string
		want     string
	}{
		{herb.TypeDate, herb.Notation{}, "2024-03-03",
			"?d%5Bgte%5D=2024-02-26 ?d%5Bgte%5D=2024-02-03 ?d%5Bgte%5D=2024-01-01"},
		{herb.TypeDate, herb.Notation{DateFormat: "%d/%m/%Y"}, "03/03/2024",
			"?d%5Bgte%5D=2024-02-26 ?d%5Bgte%5D=2024-02-03 ?d%5Bgte%5D=2024-01-01"},
		{herb.TypeDateTime, herb.Notation{}, "2024-03-03T10:00:00Z",
			"?d%5Bgte%5D=2024-02-26 ?d%5Bgte%5D=2024-02-03 ?d%5Bgte%5D=2024-01-01"},
		{herb.TypeDate, herb.Notation{}, "", ""},
		{herb.TypeNumber, herb.Notation{}, "20240303", ""},
	} {
		d := &herb.Dataset{Fields: []herb.Field{{Name: "d", Type: tt.typ, Notation: tt.notation}}}
		var hrefs []string
		for _, link := range newPresets(&state.State{Pin: -1, Dataset: columns.Read(d), Fields: d.Fields}, 0, tt.last) {
			hrefs = append(hrefs, link.Href)
		}
		if got := strings.Join(hrefs, " "); got != tt.want {
			t.Errorf("the presets of %s %q are %q, want %q", tt.typ, tt.last, got, tt.want)
		}
	}
}
