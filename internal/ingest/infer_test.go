package ingest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
)

// writeFile writes a file into a folder of the test's own and returns its path.
func writeFile(t testing.TB, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func inspect(t testing.TB, src ingest.Source) *ingest.Table {
	t.Helper()
	table, err := ingest.Inspect(t.Context(), src, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// many returns n distinct values.
func many(n int, format string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(format, i)
	}
	return out
}

func TestInference(t *testing.T) {
	t.Parallel()
	const text, number, date, list, address = "text searchable", "number", "date", "list searchable", "text"
	tests := []struct {
		name   string
		column string // "x" if empty
		values []string
		want   string
	}{
		{name: "no values", values: []string{"", ""}, want: text},
		{name: "no records", want: text},
		{name: "words", values: []string{"fern", "moss"}, want: text},
		{name: "whole numbers", values: []string{"1", "-20", "0"}, want: number},
		{name: "decimals", values: []string{"1.50", "-0.5", "12345678901234567890.1"}, want: number},
		{name: "numbers and empty values", values: []string{"", "1", ""}, want: number},
		{name: "leading zeros", values: []string{"00042", "1"}, want: text},
		{name: "exponents", values: []string{"1e5", "2"}, want: text},
		{name: "blanks around", values: []string{" 1", "2"}, want: text},
		{name: "plus sign", values: []string{"+1"}, want: text},
		{name: "no digit after the point", values: []string{"1.", "2"}, want: text},
		{name: "thousands", values: []string{"1,234", "5,678", "1,234"}, want: text},
		{name: "last value spoils the number", values: append(many(500, "%d"), "n/a"), want: text},
		{name: "dates", values: []string{"2024-02-29", "", "1999-12-31"}, want: date},
		{name: "a day that is none", values: []string{"2024-02-29", "2023-02-29"}, want: text},
		{name: "dates with a time", values: []string{"2024-02-29T10:00"}, want: text},
		{name: "years are numbers", values: []string{"1999", "2024"}, want: number},
		{name: "numbers and dates", values: []string{"1", "2024-02-29"}, want: text},

		{name: "lists by name", column: "Tags", values: []string{"shade"}, want: list},
		{name: "lists by another name", column: "tag_list", values: []string{"shade, Hardy plants"}, want: list},
		{name: "named a list without values", column: "tags", values: []string{""}, want: text},
		{name: "named a list but numbers", column: "labels", values: []string{"1", "2"}, want: number},
		{name: "lists by content", values: []string{"shade,hardy", "hardy,rare", "rare,shade", "hardy"}, want: list},
		{name: "only one value with a comma", values: []string{"shade,hardy", "hardy", "shade", "hardy"}, want: text},
		{name: "elements that do not recur", values: []string{"a,b", "c,d", "e,a"}, want: text},
		{name: "exactly half are distinct", values: []string{"a,b", "a,b"}, want: list},
		{name: "blank after a comma", values: []string{"a,b", "a, b", "a,b", "a,b"}, want: text},
		{name: "blank before a comma", values: []string{"a,b", "a ,b", "a,b", "a,b"}, want: text},
		{name: "wide blank after a comma", values: []string{"a,b", "a,\u3000b", "a,b", "a,b"}, want: text},
		{name: "blanks inside elements", values: []string{"full sun,hardy", "full sun,hardy"}, want: list},
		{name: "blanks at the ends", values: []string{" a,b ", "a,b", "a,b"}, want: list},
		{name: "empty element", values: []string{"a,b", "a,,b", "a,b"}, want: text},
		{name: "comma at the end", values: []string{"a,b", "a,b,", "a,b"}, want: text},
		{name: "element of digits", values: []string{"a,b", "a,7", "a,b"}, want: text},
		{name: "element of 40 characters", values: []string{"a," + strings.Repeat("é", 40), "a," + strings.Repeat("é", 40)}, want: list},
		{name: "element of 41 characters", values: []string{"a," + strings.Repeat("é", 41), "a," + strings.Repeat("é", 41)}, want: text},
		{name: "too many elements", values: append(append(many(100_001, "e%d"), many(100_001, "e%d")...), "e1,e2", "e1,e2"), want: text},

		{name: "addresses", values: []string{"https://a.example/x?y=1,2", "", "ftp://b"}, want: address},
		{name: "addresses without a scheme", values: []string{"//cdn.example/x.jpg"}, want: address},
		{name: "paths from the root", values: []string{"/images/x.jpg", "https://a.example/"}, want: address},
		{name: "an address with a blank", values: []string{"https://a.example/x", "https://a.example/x y"}, want: text},
		{name: "a word among addresses", values: []string{"https://a.example/x", "none"}, want: text},
		{name: "no scheme before the colon", values: []string{"3x://a"}, want: text},
		{name: "nothing after the scheme", values: []string{"https://"}, want: text},
		{name: "a slash alone", values: []string{"/"}, want: text},
		{name: "relative paths", values: []string{"images/x.jpg"}, want: text},
		{name: "tags that are addresses", column: "tags", values: []string{"/a", "/b"}, want: list},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			column := tt.column
			if column == "" {
				column = "x"
			}
			var b strings.Builder
			b.WriteString("row," + column + "\n")
			for _, v := range tt.values {
				b.WriteString("r,\"" + v + "\"\n")
			}
			d := inspect(t, ingest.Source{Path: writeFile(t, t.TempDir(), "x.csv", b.String())}).Dataset()
			f := d.Fields[1]
			got := string(f.Type)
			if f.Searchable {
				got += " searchable"
			}
			if got != tt.want || !f.Filterable || !f.Sortable || f.Name != column {
				t.Errorf("got %+v, want %s", f, tt.want)
			}
			if d.Records != len(tt.values) {
				t.Errorf("got %d records, want %d", d.Records, len(tt.values))
			}
		})
	}
}

func TestColumnNames(t *testing.T) {
	t.Parallel()
	tests := []struct{ header, want string }{
		{"a,b", "a b"},
		{"a,,b,", "a column_2 b column_4"},
		{"a,a,a", "a a_2 a_3"},
		{"a,a,a_2,a", "a a_3 a_2 a_4"},
		{"a_2,a,a", "a_2 a a_3"},
		{",column_1", "column_1_2 column_1"},
		{"column_2,", "column_2 column_2_2"},
		{",,column_2,column_2", "column_1 column_2_2 column_2 column_2_3"},
		{"a,A", "a A"},
	}
	for _, tt := range tests {
		t.Run(tt.header, func(t *testing.T) {
			t.Parallel()
			var names []string
			for _, f := range inspect(t, ingest.Source{Path: writeFile(t, t.TempDir(), "x.csv", tt.header+"\n")}).Dataset().Fields {
				names = append(names, f.Name)
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestFieldSettings(t *testing.T) {
	t.Parallel()
	path := writeFile(t, t.TempDir(), "x.csv", "id,price,day,tags,url\n1,\"1,200\",2024-05-01,\"a,b\",https://a.example/\n2,7,soon,c,//b\n")
	table := inspect(t, ingest.Source{
		Ref: herb.Ref{Namespace: "n", Name: "d"}, Path: path, Title: "T", Description: "D", Access: herb.AccessKey,
		Fields: []ingest.FieldSetting{
			{Name: "cost", From: "price", Type: herb.TypeNumber, Title: "Cost", Description: "of one"},
			{Name: "id", Sortable: new(false), Searchable: new(true)},
			{Name: "day", Type: herb.TypeDate},
			{Name: "code", From: "id", Type: herb.TypeText},
			{Name: "link", From: "url", Type: herb.TypeText, Filterable: new(false)},
			{Name: "words", From: "tags"},
			{Name: "url", Type: herb.TypeList},
		},
	})
	d := table.Dataset()
	want := herb.Dataset{
		Ref: herb.Ref{Namespace: "n", Name: "d"}, Title: "T", Description: "D", Access: herb.AccessKey, Records: 2, Source: d.Source,
		Fields: []herb.Field{
			{Name: "cost", Type: herb.TypeText, Title: "Cost", Description: "of one", Searchable: true, Filterable: true, Sortable: true},
			{Name: "id", Type: herb.TypeNumber, Searchable: true, Filterable: true},
			{Name: "day", Type: herb.TypeText, Searchable: true, Filterable: true, Sortable: true},
			{Name: "code", Type: herb.TypeText, Searchable: true, Filterable: true, Sortable: true},
			{Name: "link", Type: herb.TypeText, Sortable: true},
			{Name: "words", Type: herb.TypeList, Searchable: true, Filterable: true, Sortable: true},
			{Name: "url", Type: herb.TypeList, Searchable: true, Filterable: true, Sortable: true},
		},
	}
	d.Report = nil // it has tests of its own
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("dataset (-want +got):\n%s", diff)
	}
	wantWarnings := []string{
		`field "cost" is published as text, not as number: "1,200" (line 2) is not plain decimal notation such as -3, 25 or 12.50`,
		`field "day" is published as text, not as date: "soon" (line 3) is not a date such as 2024-02-29`,
	}
	if diff := cmp.Diff(wantWarnings, table.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	var records []herb.Record
	for r, err := range table.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	wantRecords := []herb.Record{
		{"1,200", "1", "2024-05-01", "1", "https://a.example/", "a,b", "https://a.example/"},
		{"7", "2", "soon", "2", "//b", "c", "//b"},
	}
	if diff := cmp.Diff(wantRecords, records); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func TestFieldSettings_Refused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	csv := writeFile(t, dir, "x.csv", "id,price\n1,2\n")
	tests := []struct {
		name string
		src  ingest.Source
		want string
	}{
		{"no such column", ingest.Source{Path: csv, Fields: []ingest.FieldSetting{{Name: "cost", From: "prise"}}},
			`: field "cost": there is no column "prise"; did you mean "price"? columns: id, price`},
		{"nothing like it", ingest.Source{Path: csv, Fields: []ingest.FieldSetting{{Name: "weather"}}},
			`: field "weather": there is no column "weather"; columns: id, price`},
		{"the same name twice", ingest.Source{Path: csv, Fields: []ingest.FieldSetting{{Name: "id"}, {Name: "id", From: "price"}}},
			`: field "id" is configured twice; give each field a name of its own`},
		{"no name", ingest.Source{Path: csv, Fields: []ingest.FieldSetting{{From: "id"}}}, `: field 1 has no name; give each field a name`},
		{"type", ingest.Source{Path: csv, Fields: []ingest.FieldSetting{{Name: "id", Type: "int"}}},
			`: unknown type "int"; choose text, number, date, datetime, boolean or list`},
		{"access", ingest.Source{Path: csv, Access: "secret"}, `: unknown access "secret"; choose open or key`},
		{"format", ingest.Source{Path: csv, Format: "xml"}, `: unknown format "xml"; choose from csv, tsv, json, ndjson, jsonl, parquet, xlsx, sqlite`},
		{"delimiter", ingest.Source{Path: csv, Dialect: ingest.Dialect{Delimiter: '"'}},
			`: "\"" cannot separate values; choose one ASCII character that is no quote and no line end`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := ingest.Inspect(t.Context(), tt.src, ingest.Options{})
			if err == nil || err.Error() != csv+tt.want || herb.CodeOf(err) != herb.CodeInvalid {
				t.Errorf("got error  %v\nwant error %s", err, csv+tt.want)
			}
		})
	}
}

func TestFieldSettings_NoRecords(t *testing.T) {
	t.Parallel()
	path := writeFile(t, t.TempDir(), "x.json", "[]")
	d := inspect(t, ingest.Source{Path: path, Fields: []ingest.FieldSetting{{Name: "id", Type: herb.TypeNumber}}}).Dataset()
	want := []herb.Field{{Name: "id", Type: herb.TypeNumber, Filterable: true, Sortable: true}}
	if diff := cmp.Diff(want, d.Fields); diff != "" {
		t.Errorf("fields of a file without records (-want +got):\n%s", diff)
	}
}
