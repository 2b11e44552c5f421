package ingest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/profile"
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
			{Name: "cost", From: "price", Schema: profile.Schema{Type: "number", GroupChar: ","}, Title: "Cost", Description: "of one"},
			{Name: "id", Sortable: new(false), Searchable: new(true)},
			{Name: "day", Schema: profile.Schema{Type: "date"}, Missing: []string{"soon"}},
			{Name: "code", From: "id", Schema: profile.Schema{Type: "string"}},
			{Name: "link", From: "url", Schema: profile.Schema{Type: "string"}, Filterable: new(false)},
			{Name: "words", From: "tags"},
			{Name: "url", Schema: profile.Schema{Type: "list"}},
		},
	})
	d := table.Dataset()
	want := herb.Dataset{
		Ref: herb.Ref{Namespace: "n", Name: "d"}, Title: "T", Description: "D", Access: herb.AccessKey, Records: 2, Source: d.Source,
		Fields: []herb.Field{
			{Name: "cost", Type: herb.TypeNumber, Notation: herb.Notation{Group: ","}, Title: "Cost", Description: "of one", Filterable: true, Sortable: true},
			{Name: "id", Type: herb.TypeNumber, Searchable: true, Filterable: true},
			{Name: "day", Type: herb.TypeDate, Filterable: true, Sortable: true},
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
	var records []herb.Record
	for r, err := range table.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	wantRecords := []herb.Record{
		{"1,200", "1", "2024-05-01", "1", "https://a.example/", "a,b", "https://a.example/"},
		{"7", "2", "", "2", "//b", "c", "//b"},
	}
	if diff := cmp.Diff(wantRecords, records); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func TestFieldSettings_invalid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	csv := writeFile(t, dir, "x.csv", "id,price\n1,2\n")
	tests := []struct {
		name string
		src  ingest.Source
		want string
	}{
		{"no such column", ingest.Source{Path: csv, Fields: []ingest.FieldSetting{{Name: "cost", From: "prise"}}},
			`: field "cost": no such column "prise"; did you mean "price"? columns: id, price`},
		{"nothing like it", ingest.Source{Path: csv, Fields: []ingest.FieldSetting{{Name: "weather"}}},
			`: field "weather": no such column "weather"; columns: id, price`},
		{"the same name twice", ingest.Source{Path: csv, Fields: []ingest.FieldSetting{{Name: "id"}, {Name: "id", From: "price"}}},
			`: two fields are named "id"; give each field a name of its own`},
		{"no name", ingest.Source{Path: csv, Fields: []ingest.FieldSetting{{From: "id"}}}, `: field 1 has no name; give each field a name`},
		{"a value that is not of its type", ingest.Source{Path: csv, Fields: []ingest.FieldSetting{{Name: "id", Schema: profile.Schema{Type: "date"}}}}, `: field "id": "1" (line 2) is not a date`},
		{"access", ingest.Source{Path: csv, Access: "secret"}, `: unknown access "secret"; choose open or key`},
		{"format", ingest.Source{Path: csv, Format: "xml"}, `: unknown format "xml"; valid formats: csv, `},
		{"delimiter", ingest.Source{Path: csv, Dialect: dialect{Delimiter: '"'}},
			`: "\"" cannot separate values; choose one ASCII character that is no quote and no line end`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := ingest.Inspect(t.Context(), tt.src, ingest.Options{})
			if err == nil || !strings.HasPrefix(err.Error(), csv+tt.want) || herb.CodeOf(err) != herb.CodeInvalid {
				t.Errorf("got error  %v\nwant error %s", err, csv+tt.want)
			}
		})
	}
}

func TestFieldSettings_NoRecords(t *testing.T) {
	t.Parallel()
	path := writeFile(t, t.TempDir(), "x.json", "[]")
	d := inspect(t, ingest.Source{Path: path, Fields: []ingest.FieldSetting{{Name: "id", Schema: profile.Schema{Type: "number"}}}}).Dataset()
	want := []herb.Field{{Name: "id", Type: herb.TypeNumber, Filterable: true, Sortable: true}}
	if diff := cmp.Diff(want, d.Fields); diff != "" {
		t.Errorf("fields of a file without records (-want +got):\n%s", diff)
	}
}
