package review_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rowstest"
	"herbarium/internal/publish/review"
)

// TestReview_rows decides about rows and compares the records that are published.
func TestReview_rows(t *testing.T) {
	t.Parallel()
	const titled = "Prices\n\nid,n,m\na,1,2\nb,3,4\nid,n,m\nc,5,6\n\"d\nd\",7,8\n\n\"Note: x\nmore\"\n* all\n"
	for _, tt := range []struct {
		name    string
		content string
		edits   review.Edits
		error   string   // contained in that of the review
		want    []string // records
		shown   []string // rows that the review shows, without records
	}{
		{name: "as it is", content: titled, want: []string{"a|1|2", "b|3|4", "c|5|6", "d\nd|7|8"},
			shown: []string{"1 left out (above the table: Prices)", "3 header|id|n|m",
				"6 left out (repeats the header: id | n | m)", "11 left out (footnote: Note: x more)",
				"13 left out (footnote: * all)"}},
		{name: "keep a footnote", content: titled, edits: review.Edits{Keep: []int{13}},
			want: []string{"a|1|2", "b|3|4", "c|5|6", "d\nd|7|8", "* all||"},
			shown: []string{"1 left out (above the header: Prices)", "3 header|id|n|m",
				"6 left out (excluded by its number: id,n,m)", "11 left out (excluded by its number: \"Note: x)",
				"12 left out (excluded by its number: more\")"}},
		{name: "keep a footnote of two lines", content: titled, edits: review.Edits{Keep: []int{11}},
			want: []string{"a|1|2", "b|3|4", "c|5|6", "d\nd|7|8", "Note: x\nmore||"}},
		{name: "keep both footnotes", content: titled, edits: review.Edits{Keep: []int{11, 13}},
			want: []string{"a|1|2", "b|3|4", "c|5|6", "d\nd|7|8", "Note: x\nmore||", "* all||"}},
		{name: "drop a record", content: titled, edits: review.Edits{Drop: []int{5}},
			want: []string{"a|1|2", "c|5|6", "d\nd|7|8"},
			shown: []string{"1 left out (above the table: Prices)", "3 header|id|n|m",
				"5 left out (excluded by its number: b,3,4) edited", "6 left out (repeats the header: id | n | m)",
				"11 left out (footnote: Note: x more)", "13 left out (footnote: * all)"}},
		{name: "drop a record of two lines", content: titled, edits: review.Edits{Drop: []int{8}},
			want: []string{"a|1|2", "b|3|4", "c|5|6"}},
		{name: "drop and keep", content: titled, edits: review.Edits{Drop: []int{4, 8}, Keep: []int{13}},
			want: []string{"b|3|4", "c|5|6", "* all||"}},
		{name: "another header", content: titled, edits: review.Edits{HeaderRows: &[]int{4}},
			want: []string{"b|3|4", "c|5|6", "d\nd|7|8"}},
		{name: "no header", content: titled, edits: review.Edits{HeaderRows: &[]int{}},
			want: []string{"id|n|m", "a|1|2", "b|3|4", "c|5|6", "d\nd|7|8"}},
		{name: "no header, all rows", content: "Prices,,\nid,n,m\na,1,2\nb,3,4\nid,n,m\n",
			edits: review.Edits{HeaderRows: &[]int{}, Keep: []int{1, 5}},
			want:  []string{"Prices||", "id|n|m", "a|1|2", "b|3|4", "id|n|m"}},
		{name: "a header of several rows", content: ",x,,y,\nid,n,m,n,m\na,1,2,3,4\nb,5,6,7,8\n",
			want:  []string{"a|1|2|3|4", "b|5|6|7|8"},
			shown: []string{"1 header||x||y|", "2 header|id|n|m|n|m"}},
		{name: "keep the title", content: titled, edits: review.Edits{Keep: []int{1}},
			error: "line 1 is above the header"},
		{name: "keep a repeated header", content: titled, edits: review.Edits{Keep: []int{6}},
			error: "line 6 repeats the header"},
		{name: "JSON", content: `[{"a":1},{"a":2}]`, edits: review.Edits{Drop: []int{1}},
			error: "the format of the file says which rows are records"},
		{name: "no such header", content: titled, edits: review.Edits{HeaderRows: &[]int{90}}, error: "no line 90"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t, nodeOptions{})
			id := n.create("prices.csv", tt.content)
			if r := n.review(id); r.Error != "" {
				t.Fatal(r.Error)
			}
			r := n.edit(id, tt.edits)
			if tt.error != "" {
				if !strings.Contains(r.Error, tt.error) || len(r.Rows) == 0 {
					t.Errorf("got the error %q and %d rows", r.Error, len(r.Rows))
				}
				return
			}
			if tt.shown != nil {
				var shown []string
				for _, row := range r.Rows {
					if row.Kind != review.RowRecord {
						shown = append(shown, rowsOf([]review.Row{row})...)
					}
				}
				if diff := cmp.Diff(tt.shown, shown); diff != "" {
					t.Errorf("rows (-want +got):\n%s", diff)
				}
			}
			checkPublish(t, n, id, "prices.csv", tt.content)
			if _, got, _ := strings.Cut(n.listing(prices), "\n"); got != strings.Join(tt.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestReview_tables chooses a table of a file of several.
func TestReview_tables(t *testing.T) {
	t.Parallel()
	archive := rowstest.Zip(t, "t/stops.txt=id,name,zone\na,Harbour,1\nb,Market,2\n",
		"t/agency.txt=id,name,url\nx,Bus,y\nz,Tram,w\n")
	for _, tt := range []struct {
		name, file, content string
		tables              []string
		table, want         string
	}{
		{"JSON", "a.json", `{"p":[{"id":1},{"id":2}],"q":[{"id":3},{"id":4}]}`, []string{"p", "q"}, "q", "3\n4"},
		{"archive", "a.zip", archive, []string{"t/stops.txt", "t/agency.txt"}, "t/stops.txt",
			"a|Harbour|1\nb|Market|2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t, nodeOptions{})
			id := n.create(tt.file, tt.content)
			r := n.review(id)
			if diff := cmp.Diff(tt.tables, r.Tables); diff != "" || r.Error == "" {
				t.Errorf("without a choice: %q (-want +got):\n%s", r.Error, diff)
			}
			r = n.edit(id, review.Edits{Title: new("T")})
			if r.Error == "" {
				t.Error("an edit of the title has chosen a table")
			}
			for _, e := range []review.Edits{{Table: tt.table}, {Table: tt.table, Title: new("T")},
				{Table: tt.table, Columns: map[int]review.ColumnEdit{0: {Type: herb.TypeText}}}} {
				id := n.create(tt.file, tt.content)
				if r := n.edit(id, e); r.Error != "" || len(r.Tables) != 2 || !strings.Contains(r.Format, tt.table) {
					t.Fatalf("%+v: %+v", e, r)
				}
				checkPublish(t, n, id, tt.file, tt.content)
				if _, got, _ := strings.Cut(n.listing(prices), "\n"); got != tt.want {
					t.Errorf("got %s", got)
				}
			}
		})
	}
}
