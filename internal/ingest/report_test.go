package ingest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
)

// reportOf inspects a file of one column x beside a column that is never empty, and returns the report on x.
func reportOf(t *testing.T, setting herb.Type, values ...string) herb.ColumnReport {
	t.Helper()
	var b strings.Builder
	b.WriteString("row,x\n")
	for _, v := range values {
		b.WriteString("r,\"" + v + "\"\n")
	}
	src := ingest.Source{Path: writeFile(t, t.TempDir(), "x.csv", b.String())}
	at := 1
	if setting != "" {
		src.Fields = []ingest.FieldSetting{{Name: "x", Type: setting}}
		at = 0
	}
	return inspect(t, src).Dataset().Report.Columns[at]
}

func TestReport_evidence(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		typ    herb.Type // as configured
		values []string
		want   string
		notes  []string
	}{
		{name: "no records", want: "text: there are no values"},
		{name: "no values", values: []string{"", ""}, want: "text: there are no values"},
		{name: "numbers", values: append(many(9998, "%d"), "", ""), want: "number: 9,998 of 10,000; 2 empty"},
		{name: "dates", values: []string{"2024-02-29", "2024-03-01"}, want: "date: 2 of 2"},
		{name: "words", values: []string{"fern", "", "moss"}, want: "text: 2 of 3; 1 empty"},
		{name: "addresses", values: []string{"https://a.example/", "/b"}, want: "text: all are addresses; 2 of 2"},
		{
			name: "nearly numbers", values: append(many(15, "%d"), "n/a", "12", "n/a", "x"),
			want: `text: 3 of 19 are not numbers, the first "n/a" in line 17`,
		},
		{
			name: "one is not a number", values: append(many(15, "%d"), "none"),
			want: `text: 1 of 16 is not a number, the first "none" in line 17`,
		},
		{
			name: "nearly dates", values: []string{"2024-01-01", "", "2024-01-02", "soon"},
			want: `text: 1 of 3 is not a date, the first "soon" in line 5`,
		},
		{
			name: "zero-padded", values: []string{"00042", "17", "007"},
			want:  `text: 2 of 3 are not numbers, the first "00042" in line 2`,
			notes: []string{`zero-padded codes such as "00042" are kept as text (2 values)`},
		},
		{
			name: "exponents", values: []string{"5", "1e5"},
			want:  `text: 1 of 2 is not a number, the first "1e5" in line 3`,
			notes: []string{`numbers with an exponent such as "1e5" are kept as text (1 value)`},
		},
		{name: "a code among words is no news", values: []string{"rose", "007", "fern"}, want: "text: 3 of 3"},
		{
			name: "ambiguous dates", values: []string{"01/02/2024", "03/04/2024"},
			want: `text: 2 of 2 are not dates, the first "01/02/2024" in line 2`,
			notes: []string{`dates such as "01/02/2024" are kept as text (2 values): they are ambiguous, day/month/year or ` +
				`month/day/year; write them as 2024-02-29 to have them compared as dates`},
		},
		{
			name: "day first", values: []string{"01.02.2024", "31.12.2023"},
			want: `text: 2 of 2 are not dates, the first "01.02.2024" in line 2`,
			notes: []string{`dates such as "01.02.2024" are kept as text (2 values): they can only be day/month/year; ` +
				`write them as 2024-02-29 to have them compared as dates`},
		},
		{
			name: "month first", values: []string{"01/02/2024", "12/31/2023"},
			want: `text: 2 of 2 are not dates, the first "01/02/2024" in line 2`,
			notes: []string{`dates such as "01/02/2024" are kept as text (2 values): they can only be month/day/year; ` +
				`write them as 2024-02-29 to have them compared as dates`},
		},
		{
			name: "both", values: []string{"31/12/2023", "12/31/2023"},
			want: `text: 2 of 2 are not dates, the first "31/12/2023" in line 2`,
			notes: []string{`dates such as "31/12/2023" are kept as text (2 values): some can only be day/month/year, others ` +
				`only month/day/year; write them as 2024-02-29 to have them compared as dates`},
		},
		{
			name: "year first", values: []string{"2024/02/29"},
			want: `text: 1 of 1 is not a date, the first "2024/02/29" in line 2`,
			notes: []string{`dates such as "2024/02/29" are kept as text (1 value): they are year/month/day; ` +
				`write them as 2024-02-29 to have them compared as dates`},
		},
		{
			name: "with a time", values: []string{"2024-02-29T10:00:00Z"},
			want: `text: 1 of 1 is not a date, the first "2024-02-29T10:00:00Z" in line 2`,
			notes: []string{`dates such as "2024-02-29T10:00:00Z" are kept as text (1 value): they have a time; ` +
				`text like this sorts by time all the same`},
		},
		{
			name: "mixed", values: []string{"1", "2", "2024-02-29", "soon"},
			want:  `text: 2 of 4 are not numbers, the first "2024-02-29" in line 4`,
			notes: []string{"types are mixed: 2 numbers, 1 dates, 1 others"},
		},
		{
			name: "blanks", values: []string{"fern", " moss", "ivy "},
			want: "text: 3 of 3",
			notes: []string{`2 values with a blank at the beginning or end, the first " moss" in line 3; ` +
				`they are kept as they are`},
		},
		{name: "list by content", values: []string{"a,b", "b,c", "c,a"}, want: "list: 3 values have several elements, 3 different ones; 3 of 3"},
		{name: "configured", typ: herb.TypeNumber, values: []string{"1", ""}, want: "number, as configured: 1 of 2; 1 empty"},
		{name: "configured as text", typ: herb.TypeText, values: []string{"1"}, want: "text, as configured: 1 of 1"},
		{
			name: "configured otherwise", typ: herb.TypeDate, values: []string{"2024-01-01", "soon"},
			want: `text, although configured as date: 1 of 2 is not a date, the first "soon" in line 3`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := reportOf(t, tt.typ, tt.values...)
			if got.Evidence != tt.want {
				t.Errorf("evidence\n%s\nwant\n%s", got.Evidence, tt.want)
			}
			if diff := cmp.Diff(tt.notes, got.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	src := ingest.Source{
		Path: writeFile(t, t.TempDir(), "x.csv", "id;Tags;secret;naïve\n1;a,b;x;été\n2;;y;a\n3;c;z;植物園の木\n"),
		Fields: []ingest.FieldSetting{
			{Name: "number", From: "id"}, {Name: "tags", From: "Tags"}, {Name: "word", From: "naïve", Type: herb.TypeNumber},
		},
	}
	table := inspect(t, src)
	want := &herb.Report{
		Format: "csv, semicolon between values",
		Rows:   3,
		Columns: []herb.ColumnReport{
			{Field: "number", Column: "id", Type: herb.TypeNumber, Evidence: "number: 3 of 3", Filled: 3, Shortest: 1, Longest: 1},
			{
				Field: "tags", Column: "Tags", Type: herb.TypeList, Filled: 2, Empty: 1, Shortest: 1, Longest: 3,
				Evidence: `list: columns called "Tags" hold lists; 2 of 3; 1 empty`,
			},
			{
				Field: "word", Column: "naïve", Type: herb.TypeText, Filled: 3, Shortest: 1, Longest: 5,
				Evidence: `text, although configured as number: 3 of 3 are not numbers, the first "été" in line 2`,
			},
		},
		Hidden:      []string{"secret"},
		Notes:       table.Warnings(),
		SourceCells: &herb.SourceCells{Total: 11, Hidden: 3},
	}
	if diff := cmp.Diff(want, table.Dataset().Report, cmpopts.IgnoreTypes(herb.ColumnCells{})); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if len(want.Notes) != 1 {
		t.Errorf("notes %q; want the one on the type", want.Notes)
	}
}

func TestReport_json(t *testing.T) {
	t.Parallel()
	src := ingest.Source{Path: writeFile(t, t.TempDir(), "x.json", "[{\"a\":1},\n{\"a\":\"n/a\",\"b\":2}]")}
	got := inspect(t, src).Dataset().Report
	if got.Format != "json" || got.Rows != 2 || got.Columns[1].Empty != 1 || got.Columns[0].Evidence !=
		`text: 1 of 2 is not a number, the first "n/a" in record 2, line 2` {
		t.Errorf("%+v", got)
	}
}
