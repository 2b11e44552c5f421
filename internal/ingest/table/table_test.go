package table_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/table"
)

// TestTable reads a table as a format would: the header from a sample, the records row by row.
func TestTable(t *testing.T) {
	t.Parallel()
	const body = "\na|1|2\nb|3|4\nc|5|6"
	for _, c := range []struct {
		name, text string
		in         table.Input
		names      string // with commas between them
		records    []int  // lines
		notes      string
		complete   rows.Options // what Complete adds
	}{
		{"a header", "id|n|m" + body, table.Input{}, "id,n,m", []int{2, 3, 4}, "", rows.Options{}},
		{"a header below titles", "Title\nid|n|m" + body, table.Input{}, "id,n,m", []int{3, 4, 5},
			"header: line 2 names the columns\nleft out: line 1 (above the table: Title); set header=none to keep all",
			rows.Options{HeaderRows: []int{2}}},
		{"two rows", "|x||y|\nid|n|m|n|m\na|1|2|3|4\nb|5|6|7|8", table.Input{}, "id,x n,x m,y n,y m", []int{3, 4},
			"header: lines 1 and 2 name the columns together; set header=2 if only the last one does",
			rows.Options{HeaderRows: []int{1, 2}}},
		{"two given rows", "a|b|c\nd|e|f" + body,
			table.Input{Options: rows.Options{HeaderRows: []int{1, 2}, HeaderJoin: "/"}}, "a/d,b/e,c/f", []int{3, 4, 5},
			"", rows.Options{}},
		{"row names", "n|m" + body, table.Input{RowNames: true, Found: table.Header{End: 1}}, "row,n,m", []int{2, 3, 4},
			"", rows.Options{}},
		{"row names beside a column row", "row|m" + body, table.Input{RowNames: true, Found: table.Header{End: 1}},
			"row_2,row,m", []int{2, 3, 4}, "", rows.Options{}},
		{"a footnote", "id|n|m" + body + "\nSource: x", table.Input{}, "id,n,m", []int{2, 3, 4},
			"left out: line 5 (footnote: Source: x); set header=none to keep all, or header=1 to keep those below it",
			rows.Options{CommentRows: []int{5}}},
		{"another table", "id|n|m" + body + "\n\nTravel\nid|day|place|cost\na|Monday|Rome|5", table.Input{}, "id,n,m",
			[]int{2, 3, 4},
			"left out: 3 lines: 6 (another table: Travel), 7 (another table: id | day | place | cost), 8 (another " +
				"table: a | Monday | Rome | 5); " +
				"set header=none to keep all, or header=1 to keep those below it\n" +
				"only the first of 2 tables is published; others begin at line 6 (Travel); set skip=5 to publish the " +
				"next one", rows.Options{CommentRows: []int{6, 7, 8}}},
		{"units", "id|n|m\n|kg|cm" + body, table.Input{}, "id,n kg,m cm", []int{3, 4, 5},
			"header: lines 1 and 2 name the columns together; set header=2 if only the last one does",
			rows.Options{HeaderRows: []int{1, 2}}},
		{"no header", body[1:], table.Input{Width: 3}, "column_1,column_2,column_3", []int{1, 2, 3},
			"no header: line 1 has values, not names; set header=N if line N names the columns",
			rows.Options{Header: rows.HeaderNone}},
		{"no header below titles", "Title" + body, table.Input{Width: 3, Found: table.Header{First: 1, End: 1}},
			"column_1,column_2,column_3", []int{2, 3, 4},
			"no header: line 2 has values, not names; set header=N if line N names the columns\nleft out: line 1 " +
				"(above the table: Title); set header=none to keep all",
			rows.Options{Header: rows.HeaderNone, Skip: 1}},
		{"given names", body[1:],
			table.Input{Width: 3, Options: rows.Options{Header: rows.HeaderNone, Names: []string{"x", "y", "z"}}},
			"x,y,z", []int{1, 2, 3}, "", rows.Options{}},
		{"too few given names", body[1:],
			table.Input{Width: 3, Options: rows.Options{Header: rows.HeaderNone, Names: []string{"x"}}},
			"column_1,column_2,column_3", []int{1, 2, 3}, "", rows.Options{}},
		{"columns that rows add", body[1:], table.Input{Extends: true}, "", []int{1, 2, 3},
			"no header: line 1 has values, not names; set header=N if line N names the columns",
			rows.Options{Header: rows.HeaderNone}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var all []table.Row
			gap := false
			for i, line := range strings.Split(c.text, "\n") {
				if line == "" {
					gap = true
					continue
				}
				row := table.Row{Line: i + 1, End: i + 1, Gap: gap}
				gap = false
				for _, v := range strings.Split(line, "|") {
					row.Cells = append(row.Cells, []byte(v))
				}
				all = append(all, row)
			}
			report := herb.Layout{Unit: "line"}
			in := c.in
			in.Report, in.Sample = &report, table.Sample{Rows: all, Tabular: true}
			if in.Found.End == 0 {
				in.Found = table.Detect(in.Sample, in.Options)
			}
			below := all[in.Found.End:]
			in.Next = func() (table.Row, error) {
				if len(below) == 0 {
					return table.Row{}, io.EOF
				}
				next := below[0]
				below = below[1:]
				return next, nil
			}
			table := table.New(in)
			if got := strings.Join(table.Names, ","); got != c.names {
				t.Errorf("got names %s; want %s", got, c.names)
			}
			var records []int
			row, err := table.Next()
			for ; err == nil; row, err = table.Next() {
				records = append(records, row.Line)
			}
			if err != io.EOF || !slices.Equal(records, c.records) {
				t.Errorf("got records %v, error %v; want %v", records, err, c.records)
			}
			if got := strings.Join(append(report.Notes(), table.Notes()...), "\n"); got != c.notes {
				t.Errorf("got notes\n%s\nwant\n%s", got, c.notes)
			}
			want := c.complete
			if c.in.Options.Header != "" || c.in.Options.HeaderRows != nil {
				want = c.in.Options
			}
			if diff := cmp.Diff(want, table.Complete(in.Options)); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}
