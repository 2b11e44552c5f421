package ingest_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
)

// TestExclusions reports the rows that values leave out, and values that leave out none.
func TestExclusions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		values []string
		want   []string
	}{
		{"no rule", nil, nil},
		{"left out", []string{"Total"}, []string{`1 row left out by exclude: name is "Total"`}},
		{"byte by byte", []string{"total", "Total "}, []string{
			`exclude leaves out no row: no row has "total" in name`,
			`exclude leaves out no row: no row has "Total " in name`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			src := ingest.Source{Path: writeFile(t, t.TempDir(), "a.csv", "name,n\na,1\nb,2\nc,4\nTotal,7\n")}
			if tt.values != nil {
				src.Exclude = []ingest.Condition{{Column: "name", Values: tt.values}}
			}
			table, err := ingest.Inspect(t.Context(), src, ingest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer table.Close()
			if diff := cmp.Diff(tt.want, table.Dataset.Report.RowNotes()); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestExclusions_many reports the first of many values that exclude rows, and the number of others.
func TestExclusions_many(t *testing.T) {
	t.Parallel()
	var values []string
	for i := range 60 {
		values = append(values, fmt.Sprint(i))
	}
	src := ingest.Source{Path: writeFile(t, t.TempDir(), "a.csv", "n,m\n1,a\n2,b\n59,c\n99,d\n"),
		Exclude: []ingest.Condition{{Column: "n", Values: values}}}
	table, err := ingest.Inspect(t.Context(), src, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	report := table.Dataset.Report
	if report.Excluded != 3 || len(report.Exclusions) != 50 || len(report.Notes) != 1 ||
		report.Notes[0] != "exclude has 10 more values that are not listed here" {
		t.Errorf("got %d excluded, %d listed, notes %q", report.Excluded, len(report.Exclusions), report.Notes)
	}
	if report.Exclusions[1] != (herb.RowValue{Column: "n", Value: "1", Rows: 1}) {
		t.Errorf("got %+v", report.Exclusions[1])
	}
}
