package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
)

func TestTotals(t *testing.T) {
	t.Parallel()
	exclude := func(column string, values ...string) ingest.Source {
		return ingest.Source{Exclude: []ingest.Condition{{Column: column, Values: values}}}
	}
	long := strings.Repeat("9", 1000)
	tests := []struct {
		name   string
		file   string
		source ingest.Source
		want   []string // notes about rows
	}{
		{"a last row", "name,n\na,1\nb,2\nc,4\nTotal,9\n", ingest.Source{}, []string{
			`line 5 looks like a total: name is "Total"; to leave it out, set exclude in a descriptor: {"name": ["Total"]}`}},
		{"its numbers are the sums", "name,n,m\na,1,.5\nb,2,.25\nc,4,1\nSumme:,7,1.75\n", ingest.Source{}, []string{
			`line 5 looks like a total: name is "Summe:", and its numbers are the sums of the other rows; to leave it out, set exclude in a descriptor: {"name": ["Summe:"]}`}},
		{"sums without a word", "land,n\nBayern,0.1\nHessen,0.2\nSachsen,0.3\nBerlin,.05\nBremen,1e-2\nDeutschland,0.66\n", ingest.Source{}, []string{
			`line 7 looks like a total: land is "Deutschland", and its numbers are the sums of the other rows; to leave it out, set exclude in a descriptor: {"land": ["Deutschland"]}`}},
		{"sums above the rows", "land,n\nWorld,\"1,600\"\nA,\"1,000\"\nB,250\nC,300\nD,50\nE,0\nF,1\nG,-1\n", ingest.Source{}, []string{
			`line 2 looks like a total: land is "World", and its numbers are the sums of the other rows; to leave it out, set exclude in a descriptor: {"land": ["World"]}`}},
		{"an empty label", "land,n,m\nA,1,1\nB,2,4\nC,5,3\n,8,8\n", ingest.Source{}, []string{
			`line 5 looks like a total: land is "", and its numbers are the sums of the other rows; to leave it out, set exclude in a descriptor: {"land": [""]}`}},
		{"no value names the row", "a,b\n1,10\n2,20\n5,50\n8,80\n", ingest.Source{}, []string{
			`line 5 looks like a total: its numbers are the sums of the other rows`}},
		{"long numbers", "x,n,m\na," + long + ",1\nb,1,1\nc,-1,1\nd," + long + ",3\n", ingest.Source{}, []string{
			`line 5 looks like a total: x is "d", and its numbers are the sums of the other rows; to leave it out, set exclude in a descriptor: {"x": ["d"]}`}},
		{"a number of a million digits", "x,n\na,1\nb,2\nc,3\nd," + strings.Repeat("7", 1_000_000) + "\n", ingest.Source{}, nil},
		{"by category", "land,sex,n\nA,Total,3\nA,f,1\nA,m,2\nB,Total,7\nB,f,4\nB,m,3\n", ingest.Source{}, []string{
			`2 rows look like totals: sex is "Total"; to leave them out, set exclude in a descriptor: {"sex": ["Total"]}`}},
		{"Cyrillic and Japanese", "имя,合計,n\na,x,1\nb,x,2\nc,x,5\nИТОГО,合計,9\n", ingest.Source{}, []string{
			`line 5 looks like a total: имя is "ИТОГО"; to leave it out, set exclude in a descriptor: {"имя": ["ИТОГО"]}`}},
		{"a column is called Total", "name,Total\na,1\nb,2\nc,4\nd,4\n", ingest.Source{}, nil},
		{"a name of many", "company,n\n" + strings.Repeat("x,1\n", 9) + "Total,2\n" + strings.Repeat("y,3\n", 9), ingest.Source{}, nil},
		{"most rows have it", "sex,n\nTotal,1\nTotal,2\nTotal,4\nf,1\n", ingest.Source{}, nil},
		{"no numbers", "term,text\nMean,one\nMedian,two\nTotal,three\n", ingest.Source{}, nil},
		{"two rows", "name,n\na,1\nTotal,1\n", ingest.Source{}, nil},
		{"few numbers", "x,n\na,1\nb,2\nc,4\nd,7\n", ingest.Source{}, nil},
		{"sparse columns", "x,n\na,0\nb,0\nc,5\nd,5\n", ingest.Source{}, nil},
		{"a hidden column", "name,n\na,1\nb,2\nc,4\nTotal,9\n", ingest.Source{Fields: []ingest.FieldSetting{{Name: "n"}}}, nil},

		{"left out", "name,n\na,1\nb,2\nc,4\nTotal,7\n", exclude("name", "Total"), []string{`1 row left out by exclude: name is "Total"`}},
		{"byte by byte", "name,n\na,1\nb,2\nc,4\nd,9\n", exclude("name", "total", "d "), []string{
			`exclude leaves out no row: no row has "total" in name`, `exclude leaves out no row: no row has "d " in name`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.source.Path = writeFile(t, t.TempDir(), "a.csv", tt.file)
			table, err := ingest.Inspect(t.Context(), tt.source, ingest.Options{})
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
	src := ingest.Source{Path: writeFile(t, t.TempDir(), "a.csv", "n,m\n1,a\n2,b\n59,c\n99,d\n"), Exclude: []ingest.Condition{{Column: "n", Values: values}}}
	table, err := ingest.Inspect(t.Context(), src, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	report := table.Dataset.Report
	if report.Excluded != 3 || len(report.Exclusions) != 50 || len(report.Notes) != 1 || report.Notes[0] != "exclude has 10 more values that are not listed here" {
		t.Errorf("got %d excluded, %d listed, notes %q", report.Excluded, len(report.Exclusions), report.Notes)
	}
	if report.Exclusions[1] != (herb.RowValue{Column: "n", Value: "1", Rows: 1}) {
		t.Errorf("got %+v", report.Exclusions[1])
	}
}
