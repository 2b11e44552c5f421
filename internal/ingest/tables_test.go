package ingest_test

import (
	"reflect"
	"strings"
	"testing"

	"herbarium/internal/ingest"
	"herbarium/internal/ingest/rowstest"
)

// TestInspect_tables reads several tables of a file as one.
func TestInspect_tables(t *testing.T) {
	t.Parallel()
	archive := rowstest.Zip(t, "jan.csv=day,sold\n2024-01-30,1\n2024-01-31,2\n", "feb.csv=day,sold\n2024-02-01,3\n",
		"other.csv=day,bought\n2024-02-01,3\n")
	const arrays = `{"jan":[{"day":"2024-01-31","sold":2}],"feb":[{"day":"2024-02-01","sold":3,"new":true}]}`
	for _, tt := range []struct {
		name, file, content string
		tables              []string
		want                table
		err                 string
	}{
		{"files of an archive", "m.zip", archive, []string{"jan.csv", "feb.csv"},
			table{{"day", "sold"}, {"2024-01-30", "1"}, {"2024-01-31", "2"}, {"2024-02-01", "3"}}, ""},
		{"in another order", "m.zip", archive, []string{"feb.csv", "jan.csv"},
			table{{"day", "sold"}, {"2024-02-01", "3"}, {"2024-01-30", "1"}, {"2024-01-31", "2"}}, ""},
		{"one", "m.zip", archive, []string{"feb.csv"}, table{{"day", "sold"}, {"2024-02-01", "3"}}, ""},
		{"tables of a file", "m.json", arrays, []string{"jan", "feb"},
			table{{"day", "sold", "new"}, {"2024-01-31", "2", ""}, {"2024-02-01", "3", "true"}}, ""},
		{"other columns", "m.zip", archive, []string{"jan.csv", "other.csv"}, nil,
			`m.zip#other.csv: column 2 is "bought", and "sold" in`},
		{"no such file", "m.zip", archive, []string{"jan.csv", "mar.csv"}, nil,
			`m.zip#mar.csv: no such file "mar.csv"`},
		{"no such table", "m.json", arrays, []string{"jan", "mar"}, nil, `#mar: `},
		{"a file of one table", "m.csv", "a,b\n1,2\n", []string{"jan", "feb"}, nil, "the file has one table"},
	} {
		src := ingest.Source{Path: writeFile(t, t.TempDir(), tt.file, tt.content), Tables: tt.tables}
		got, warnings, err := read(t, src)
		if len(warnings) > 0 {
			t.Errorf("%s: the warnings are %q", tt.name, warnings)
		}
		if tt.err == "" && (err != nil || !reflect.DeepEqual(got, tt.want)) {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
		if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: the error is %v", tt.name, err)
		}
	}
	src := ingest.Source{Path: writeFile(t, t.TempDir(), "m.zip", archive), Tables: []string{"jan.csv", "feb.csv"}}
	before := inspect(t, src).Dataset
	_, err := ingest.Inspect(t.Context(), src, ingest.Options{Previous: ingest.Previous{Hash: before.SourceHash,
		Bytes: before.Report.Bytes}})
	if err != ingest.ErrUnchanged {
		t.Errorf("the same file gives %v", err)
	}
}
