package review_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"herbarium/internal/ingest/rowstest"
	"herbarium/internal/must"
	"herbarium/internal/publish/review"
)

// TestReview_hostile reviews files that are made to exhaust a server: a review is an error message
// or small, whatever the file contains.
func TestReview_hostile(t *testing.T) {
	t.Parallel()
	const maxReview = 8 << 20 // bytes as JSON
	wide := func(columns, rows int, cell string) string {
		var b strings.Builder
		for i := range columns {
			fmt.Fprintf(&b, "c%d,", i)
		}
		b.WriteString("end\n")
		for range rows {
			b.WriteString(strings.Repeat(cell+",", columns) + "1\n")
		}
		return b.String()
	}
	numbers := strings.Repeat("1\n", 50)
	for _, tt := range []struct {
		name, file, content string
		isReadable, isLarge bool // a large file is reviewed without edits only, which cost as much again
	}{
		{"a thousand columns", "a.csv", wide(1000, 30, strings.Repeat("long text ", 15)), true, true},
		{"ten thousand columns", "a.csv", wide(9998, 2, "x"), true, true},
		{"too many columns", "a.csv", wide(20_000, 2, "x"), false, true},
		{"a long value", "a.csv", "a,b\n1," + strings.Repeat("y", 4<<20) + "\n2,z\n", true, true},
		{"thousands of values that prevent a type", "a.csv", "n,m\n" + strings.Repeat("1,2\n", 30_000) + func() string {
			var b strings.Builder
			for i := range 2500 {
				fmt.Fprintf(&b, "x%d,%s\n", i, strings.Repeat("y", 300))
			}
			return b.String()
		}(), true, false},
		{"thousands of repeated headers", "a.csv", "id,name\n" + strings.Repeat("1,x\nid,name\n", 5_000), true, false},
		{"a zip bomb", "a.zip", rowstest.Zip(t, "a.csv="+strings.Repeat("0,0\n", 2<<20)), false, true},
		{"deep JSON", "a.json", strings.Repeat(`[`, 200_000), false, false},
		{"deep objects", "a.json", `[` + strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000) + "]",
			false, false},
		{"a truncated workbook", "a.xlsx", "PK\x03\x04" + strings.Repeat("\x00", 100), false, false},
		{"a broken database", "a.db", "SQLite format 3\x00" + strings.Repeat("\xff", 500), false, false},
		{"a broken Parquet file", "a.parquet", "PAR1" + strings.Repeat("\xff", 500) + "PAR1", false, false},
		{"no text", "a.csv", strings.Repeat("\x00\x01\x02", 1000), false, false},
		{"nothing", "a.csv", "", false, false},
		{"an open quote", "a.csv", "a,b\n1,\"" + numbers, false, false},
		{"a name with markup", "<script>.csv", "<b>,\"</td>\"\n1,2\n", true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t, nodeOptions{})
			id := n.create(tt.file, tt.content)
			edits := []review.Edits{
				{}, {Drop: []int{2}}, {HeaderRows: &[]int{1 << 30}},
				{Columns: map[int]review.ColumnEdit{0: {Type: "number", Missing: []string{"x"}}}},
			}
			if tt.isLarge {
				edits = edits[:1]
			}
			for _, e := range edits {
				r := n.edit(id, e)
				content, err := json.Marshal(r)
				must.NoError(t, err)
				if len(content) > maxReview {
					t.Errorf("%+v: the review has %d bytes", e, len(content))
				}
				if e.Drop == nil && e.HeaderRows == nil && e.Columns == nil && (r.Error == "") != tt.isReadable {
					t.Errorf("the error is %q", r.Error)
				}
				if r.Error == "" && (len(r.Rows) == 0 || len(r.Columns) == 0) {
					t.Errorf("%+v: no rows or columns are shown", e)
				}
			}
			stored, err := n.store.Draft(t.Context(), id)
			if err != nil || len(stored.Content) > 2<<20 {
				t.Errorf("the record has %d bytes, %v", len(stored.Content), err)
			}
		})
	}
}
