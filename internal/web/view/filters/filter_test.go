package filters

import (
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/state"
)

// TestContains checks that filters offer an operator that the listing accepts.
func TestContains(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind   herb.Type
		report herb.ColumnReport
		want   string
	}{
		{herb.TypeText, herb.ColumnReport{Longest: 100, Distinct: 1_000_000, Min: "a", Max: "z"}, "f[contains]"},
		{herb.TypeText, herb.ColumnReport{Longest: 9000, Distinct: 4000, Min: "a", Max: "z"}, "f[contains]"},
		{herb.TypeText, herb.ColumnReport{Longest: 9000, Distinct: 6000, Min: "a", Max: "z"}, "f[match]"},
		{herb.TypeText, herb.ColumnReport{Longest: 100, Distinct: 6000, Min: "東", Max: "都"}, "f[match]"},
		{herb.TypeList, herb.ColumnReport{Longest: 9000, Distinct: 6000}, "f[contains]"},
		{herb.TypeNumber, herb.ColumnReport{Longest: 9, Distinct: 60}, ""},
		{herb.TypeBoolean, herb.ColumnReport{Longest: 5, Distinct: 2}, ""},
	} {
		tt.report.Field = "f"
		d := &herb.Dataset{Records: 1_000_000,
			Fields: []herb.Field{{Name: "f", Type: tt.kind, Searchable: true, Filterable: true}}}
		d.Report = &herb.Report{Columns: []herb.ColumnReport{tt.report}}
		if got := NewFilter(&state.State{Dataset: columns.Read(d), Fields: d.Fields}, 0).ContainsName; got != tt.want {
			t.Errorf("%s of up to %d characters: %q, want %q", tt.kind, tt.report.Longest, got, tt.want)
		}
	}
}

func TestFilter_inputs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		typ                 herb.Type
		notation            herb.Notation
		operand, kind, want string
	}{
		{herb.TypeNumber, herb.Notation{Decimal: ","}, "1,50", "text", "1,50"},
		{herb.TypeDate, herb.Notation{DateFormat: "%d/%m/%Y"}, "20/10/2020", "date", "2020-10-20"},
		{herb.TypeDateTime, herb.Notation{}, "2024-02-29T10:00:00Z", "datetime-local", "2024-02-29T10:00:00"},
		{herb.TypeDateTime, herb.Notation{}, "2024-02-29", "datetime-local", "2024-02-29T00:00:00"},
		{herb.TypeDateTime, herb.Notation{}, "2024-02-29T10:00:00.5Z", "datetime-local",
			"2024-02-29T10:00:00.500000000"},
		{herb.TypeDate, herb.Notation{}, "soon", "date", "soon"},
		{herb.TypeDate, herb.Notation{}, "today-6d", "text", "today-6d"},
		{herb.TypeTime, herb.Notation{}, "9:05 pm", "time", "21:05:00"},
		{herb.TypeDuration, herb.Notation{}, "1h 20m", "text", "1h 20m"},
	} {
		f := Filter{Column: columns.Column{Field: herb.Field{Name: "f", Type: tt.typ, Notation: tt.notation}}}
		f.From = tt.operand
		if got := f.input(tt.operand); got != tt.want || f.InputType() != tt.kind {
			t.Errorf("the input of %s %q is %s %q; want %s %q", tt.typ, tt.operand, f.InputType(), got,
				tt.kind, tt.want)
		}
	}
}
