package ingest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/profile"
)

func TestReport(t *testing.T) {
	t.Parallel()
	src := ingest.Source{
		Path: writeFile(t, t.TempDir(), "x.csv", "id;Tags;secret;naïve\n1;a,b;x;été\n2;;y;a\n3;c;z;植物園の木\n"),
		Fields: []ingest.FieldSetting{
			{Name: "number", From: "id"}, {Name: "tags", From: "Tags"}, {Name: "word", From: "naïve", Schema: profile.Schema{Type: "string"}},
		},
	}
	table := inspect(t, src)
	want := &herb.Report{
		Format: "csv, semicolon between values",
		Bytes:  65,
		Rows:   3,
		Columns: []herb.ColumnReport{
			{Field: "number", Column: "id", Type: herb.TypeNumber, Evidence: "number: 3 of 3", Filled: 3, Shortest: 1, Longest: 1},
			{
				Field: "tags", Column: "Tags", Type: herb.TypeList, Filled: 2, Empty: 1, Shortest: 1, Longest: 3,
				Evidence: `list: 2 of 3; 1 empty`,
			},
			{
				Field: "word", Column: "naïve", Type: herb.TypeText, Filled: 3, Shortest: 1, Longest: 5,
				Evidence: `text, as declared: 3 of 3`,
			},
		},
		Hidden:      []string{"secret"},
		Notes:       table.Warnings(),
		SourceCells: &herb.SourceCells{Total: 11, Hidden: 3},
	}
	if diff := cmp.Diff(want, table.Dataset().Report, cmpopts.IgnoreTypes(herb.ColumnCells{})); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

func TestReport_json(t *testing.T) {
	t.Parallel()
	src := ingest.Source{Path: writeFile(t, t.TempDir(), "x.json", "[{\"a\":1},\n{\"a\":\"many\",\"b\":2}]")}
	got := inspect(t, src).Dataset().Report
	if got.Format != "json" || got.Rows != 2 || got.Columns[1].Empty != 1 || !strings.Contains(got.Columns[0].Evidence, `"many" (record 2, line 2)`) {
		t.Errorf("%+v", got)
	}
}
