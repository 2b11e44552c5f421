package review_test

import (
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/publish"
	"herbarium/internal/publish/review"
	"herbarium/internal/versions"
)

// TestReview_newColumns sends a file with a new column, after a column was hidden in a review. The
// new column is published and listed as new, the hidden one stays hidden: in the review, with and
// without edits, over the API, and in the edition after.
func TestReview_newColumns(t *testing.T) {
	t.Parallel()
	const first, second = "id,name,salary\n1,fern,10\n2,moss,20\n3,yew,30\n",
		"id,weight,name,Salary\n1,0.5,fern,11\n2,0.6,moss,21\n3,0.7,yew,31\n"
	for _, tt := range []struct {
		name  string
		edits review.Edits
		want  string
	}{
		{"no edits", review.Edits{}, "id,name,weight"},
		{"title", review.Edits{Title: new("Plants")}, "id,name,weight"},
		{"rows", review.Edits{Drop: []int{3}}, "id,name,weight"},
		{"rename", review.Edits{Columns: map[int]review.ColumnEdit{1: {Name: "mass"}}}, "id,name,mass"},
		{"hidden again", review.Edits{Columns: map[int]review.ColumnEdit{1: {Hidden: true}}}, "id,name"},
		{"type", review.Edits{Columns: map[int]review.ColumnEdit{2: {Type: herb.TypeText}}}, "id,name,weight"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t, nodeOptions{})
			id := n.create("prices.csv", first)
			n.edit(id, review.Edits{Columns: map[int]review.ColumnEdit{2: {Hidden: true}}})
			n.publish(id, false, "")
			fields := func() string {
				live, err := n.library.LiveVersion(t.Context(), prices)
				must.NoError(t, err)
				var names []string
				for _, f := range live.Fields {
					names = append(names, f.Name)
				}
				return strings.Join(names, ",")
			}
			if got := fields(); got != "id,name" {
				t.Fatalf("the fields of the first version are %s", got)
			}
			id = n.create("prices.csv", second)
			r := n.edit(id, tt.edits)
			isAdded := slices.ContainsFunc(r.Changes,
				func(c versions.Change) bool { return c.Kind == versions.FieldAdded })
			if r.Error != "" || isAdded != (tt.want != "id,name") || r.Columns[1].Added != isAdded ||
				r.Columns[3].Field != "" || len(versions.RequiredConsents(r.Changes)) > 0 {
				t.Errorf("the changes are %+v, the columns %+v: %s", r.Changes, r.Columns, r.Error)
			}
			n.publish(id, false, r.Live)
			if got := fields(); got != tt.want {
				t.Errorf("the fields are %s; want %s", got, tt.want)
			}
			record := n.put(prices, "prices.csv", strings.Replace(strings.ReplaceAll(second, "\n", ",x\n"), ",x", ",",
				1), "", nil)
			if got := fields(); got != tt.want {
				t.Errorf("a column without a name becomes public: %s %s", got, record.Result.Error)
			}
			const changes = "id,name,weight,salary\n9,oak,0.9,99\n"
			if record := n.put(prices, "prices.csv", changes, "",
				func(r *publish.Request) { r.Mode = publish.Append }); record.Result.Error != "" ||
				fields() != tt.want {
				t.Errorf("after changes, the fields are %s: %s", fields(), record.Result.Error)
			}
			n.put(prices, "prices.csv", strings.Replace(strings.ReplaceAll(second, "\n", ",x\n"), ",x", ",color",
				1), "", nil)
			if got := fields(); got != tt.want+",color" {
				t.Errorf("over the API, the fields are %s", got)
			}
		})
	}
}
