package columns

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
)

func TestNamingColumn(t *testing.T) {
	t.Parallel()
	field := func(name string, distinct int) (herb.Field, herb.ColumnReport) {
		return herb.Field{Name: name, Type: herb.TypeText},
			herb.ColumnReport{Field: name, Filled: 100, Distinct: distinct}
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
		{Field: "id", Min: "A-1", Max: "Z-9", Longest: 3, Distinct: 100},
		{Field: "party", Min: "Green", Max: "Red", Longest: 5, Distinct: 3},
		{Field: "speech", Min: "A word", Max: "Zeal", Longest: 9000, Distinct: 100},
		{Field: "link", Min: "https://a.example/", Max: "https://z.example/", Longest: 30, Distinct: 100},
		{Field: "dish", Min: "Apple pie", Max: "Zucchini soup", Longest: 40, Distinct: 98},
	} {
		c.Filled = 100
		d.Fields, d.Report.Columns = append(d.Fields, herb.Field{Name: c.Field, Type: herb.TypeText}),
			append(d.Report.Columns, c)
	}
	if got := d.Fields[Read(d).Naming].Name; got != "dish" {
		t.Errorf("%s names the records, want dish", got)
	}
}

// TestTitles checks which column has the titles of records that no column names: never a date or a
// code if there are words.
func TestTitles(t *testing.T) {
	t.Parallel()
	text := func(name, lowest, highest string, distinct int) herb.ColumnReport {
		return herb.ColumnReport{Field: name, Type: herb.TypeText, Min: lowest, Max: highest, Longest: 20, Filled: 100,
			Distinct: distinct}
	}
	date := herb.ColumnReport{Field: "date", Type: herb.TypeDate, Filled: 100, Distinct: 100}
	id := herb.ColumnReport{Field: "id", Type: herb.TypeNumber, Filled: 100, Distinct: 100}
	for _, tt := range []struct {
		columns []herb.ColumnReport
		key     string
		want    string
	}{
		{[]herb.ColumnReport{date, text("region", "North", "West", 4), text("country", "Albania", "Zimbabwe", 50)},
			"", "country"},
		{[]herb.ColumnReport{text("line", "001", "099", 99), text("stop", "Abbey 1", "Zoo 2", 30)}, "", "stop"},
		{[]herb.ColumnReport{text("geo_code", "AT", "US", 50), text("country", "Albania", "Zimbabwe", 50)},
			"geo_code", "country"},
		{[]herb.ColumnReport{id, text("mode", "bus", "tram", 3)}, "id", "id"},
		{[]herb.ColumnReport{date, text("link", "https://a.example/", "https://z.example/", 100)}, "", "date"},
	} {
		d := &herb.Dataset{Records: 100}
		d.Report = &herb.Report{Columns: tt.columns}
		for _, c := range tt.columns {
			d.Fields = append(d.Fields, herb.Field{Name: c.Field, Type: c.Type})
		}
		if tt.key != "" {
			d.PrimaryKey = []string{tt.key}
		}
		if got := d.Fields[Read(d).Titles].Name; got != tt.want {
			t.Errorf("key %q: the titles are those of %s, want %s", tt.key, got, tt.want)
		}
	}
}
