package filters

import (
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/state"
)

// TestPresets checks that dates have presets up to the last date of the column, which move with
// time if the column ends near today.
func TestPresets(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, time.June, 7, 12, 0, 0, 0, time.UTC)
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
		{herb.TypeDate, herb.Notation{DateFormat: "%b %Y"}, "Mar 2024",
			"?d%5Bgte%5D=2024-01 ?d%5Bgte%5D=2023-04 ?d%5Bgte%5D=2024-01"},
		{herb.TypeDate, herb.Notation{DateFormat: "%Y-Q%q"}, "2024-Q2",
			"?d%5Bgte%5D=2023-Q3 ?d%5Bgte%5D=2021-Q3 ?d%5Bgte%5D=2024-Q1"},
		{herb.TypeDate, herb.Notation{DateFormat: "%G-W%V"}, "2024-W10",
			"?d%5Bgte%5D=2024-W07 ?d%5Bgte%5D=2023-W11 ?d%5Bgte%5D=2024-W01"},
		{herb.TypeDate, herb.Notation{}, "2025-06-03",
			"?d%5Bgte%5D=today-6d ?d%5Bgte%5D=today-29d ?d%5Bgte%5D=year"},
		{herb.TypeDateTime, herb.Notation{}, "2025-05-20T10:00:00Z",
			"?d%5Bgte%5D=today-6d ?d%5Bgte%5D=today-29d ?d%5Bgte%5D=year"},
		{herb.TypeDate, herb.Notation{}, "2025-04-01",
			"?d%5Bgte%5D=2025-03-26 ?d%5Bgte%5D=2025-03-03 ?d%5Bgte%5D=2025-01-01"},
		{herb.TypeDate, herb.Notation{}, "", ""},
		{herb.TypeNumber, herb.Notation{}, "20240303", ""},
	} {
		d := &herb.Dataset{Fields: []herb.Field{{Name: "d", Type: tt.typ, Notation: tt.notation}}}
		var hrefs []string
		s := &state.State{Pin: -1, Dataset: columns.Read(d), Fields: d.Fields}
		for _, link := range newPresets(s, 0, tt.last, now) {
			hrefs = append(hrefs, link.Href)
		}
		if got := strings.Join(hrefs, " "); got != tt.want {
			t.Errorf("the presets of %s %q are %q, want %q", tt.typ, tt.last, got, tt.want)
		}
	}
}
