package columns

import (
	"testing"

	"herbarium/internal/herb"
)

func TestKindOf(t *testing.T) {
	t.Parallel()
	report := func(name string) *herb.Report {
		if name == "a" {
			return &herb.Report{Columns: []herb.ColumnReport{
				{Field: "a", Min: "https://x.example/1.png", Max: "https://x.example/z.JPG"}}}
		}
		return &herb.Report{Columns: []herb.ColumnReport{{Field: "b", Min: "https://x.example/1.png", Max: "none"}}}
	}
	for _, tt := range []struct {
		name string
		typ  herb.Type
		want Kind
	}{
		{"a", herb.TypeText, KindImage}, {"b", herb.TypeText, KindText}, {"coverImage", herb.TypeText, KindImage},
		{"imagine", herb.TypeText, KindText},
		{"thumb_url", herb.TypeText, KindImage}, {"id", herb.TypeNumber, KindCode},
		{"orderNo", herb.TypeNumber, KindCode}, {"price", herb.TypeNumber, KindNumber},
		{"image", herb.TypeDate, KindDate}, {"image", herb.TypeList, KindList},
	} {
		d := herb.Dataset{Fields: []herb.Field{{Name: tt.name, Type: tt.typ}}}
		d.Report = report(tt.name)
		if got := Read(&d).Meanings[0].Kind; got != tt.want {
			t.Errorf("%s (%s) is shown as %d, want %d", tt.name, tt.typ, got, tt.want)
		}
	}
}
