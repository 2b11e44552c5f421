package columns

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
)

func TestNamingColumn(t *testing.T) {
	t.Parallel()
	field := func(name string, distinct int) (herb.Field, herb.ColumnReport) {
		return herb.Field{Name: name, Type: herb.TypeText}, herb.ColumnReport{Field: name, Filled: 100, Distinct: distinct}
	}
	for _, tt := range []struct {
		names    string
		distinct int
		key      string
		want     string
	}{
		{"id,country_name_ar,display_name,name_en", 100, "", "display_name"},
		{"id,country_name_ar,name_en", 100, "", "name_en"},
		{"id,filename,Title", 100, "id", "Title"},
		{"id,name", 3, "id", "id"}, // shared by many records
		{"a,b", 100, "b", "b"},
		{"a,b", 100, "", "a"},
	} {
		d := &herb.Dataset{Records: 100}
		d.Report = &herb.Report{}
		for name := range strings.SplitSeq(tt.names, ",") {
			f, r := field(name, tt.distinct)
			d.Fields, d.Report.Columns = append(d.Fields, f), append(d.Report.Columns, r)
		}
		if tt.key != "" {
			d.PrimaryKey = []string{tt.key}
		}
		if got := d.Fields[Read(d).Naming].Name; got != tt.want {
			t.Errorf("%s with key %q: %s, want %s", tt.names, tt.key, got, tt.want)
		}
	}
	// Without a title, the first short text with different words names the records.
	d := &herb.Dataset{Records: 100}
	d.Report, d.PrimaryKey = &herb.Report{}, []string{"id"}
	for _, c := range []herb.ColumnReport{
		{Field: "id", Min: "A-1", Max: "Z-9", Longest: 3, Distinct: 100}, {Field: "party", Min: "Green", Max: "Red", Longest: 5, Distinct: 3},
		{Field: "speech", Min: "A word", Max: "Zeal", Longest: 9000, Distinct: 100}, {Field: "link", Min: "https://a.example/", Max: "https://z.example/", Longest: 30, Distinct: 100},
		{Field: "dish", Min: "Apple pie", Max: "Zucchini soup", Longest: 40, Distinct: 98},
	} {
		c.Filled = 100
		d.Fields, d.Report.Columns = append(d.Fields, herb.Field{Name: c.Field, Type: herb.TypeText}), append(d.Report.Columns, c)
	}
	if got := d.Fields[Read(d).Naming].Name; got != "dish" {
		t.Errorf("%s names the records, want dish", got)
	}
}
