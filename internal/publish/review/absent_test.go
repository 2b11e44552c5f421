package review_test

import (
	"encoding/json"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/publish"
	"herbarium/internal/publish/review"
	"herbarium/internal/versions"
)

// TestReview_absentColumns sends a file without a column of the live version, whatever the settings
// of the live version say about the column: the field is removed, with consent. It is not replaced
// by a column that was hidden.
func TestReview_absentColumns(t *testing.T) {
	t.Parallel()
	const first, second = "id,name,salary,shift\n1,fern,10,am\n2,moss,20,pm\n3,yew,30,am\n",
		"id,name,salary\n1,fern,11\n2,moss,21\n3,yew,31\n"
	hide := review.Edits{Columns: map[int]review.ColumnEdit{2: {Hidden: true}}}
	fields := func(settings string) string {
		return `{"resources":[{"path":"prices.csv","schema":{"primaryKey":"shift_id","fields":[{"name":"id"},{"name":"name"},` +
			`{"name":"shift_id","type":"string","herbarium":{"from":"shift"}}]},"herbarium":{` + settings + `}}]}`
	}
	for _, tt := range []struct {
		name       string
		live       review.Edits // of the first version
		descriptor string       // of the first version; empty: it is a draft
		file       string       // the next one; empty: second
		edits      review.Edits // of the next version
		want       string       // its fields
		kinds      string       // of changes that require consent
	}{
		{"no settings", review.Edits{}, "", "", review.Edits{}, "id,name,salary", "field_removed"},
		{"hidden column", hide, "", "", review.Edits{}, "id,name", "field_removed"},
		{"hidden column, title", hide, "", "", review.Edits{Title: new("Plants")}, "id,name", "field_removed"},
		{"hidden column, rows", hide, "", "", review.Edits{Drop: []int{2}}, "id,name", "field_removed"},
		{"hidden column, header", hide, "", "", review.Edits{HeaderRows: &[]int{1}}, "id,name", "field_removed"},
		{"hidden column, rename", hide, "", "",
			review.Edits{Columns: map[int]review.ColumnEdit{1: {Name: "plant"}}}, "id,plant",
			"field_renamed,field_removed"},
		{"type", review.Edits{Columns: map[int]review.ColumnEdit{3: {Type: herb.TypeText}}}, "", "", review.Edits{},
			"id,name,salary", "field_removed"},
		{"name", review.Edits{Columns: map[int]review.ColumnEdit{3: {Name: "time"}}}, "", "", review.Edits{},
			"id,name,salary", "field_removed"},
		{"excluded value", review.Edits{Exclude: []review.ValueEdit{{Column: 3, Value: "am"}}}, "", "",
			review.Edits{}, "id,name,salary", "field_removed,rows_exposed"},
		{"several columns", hide, "", "id,color\n1,red\n2,blue\n3,red\n", review.Edits{}, "id,color",
			"field_renamed,field_removed"},
		{"all columns", hide, "", "a,salary,b\n1,2,3\n2,3,4\n3,4,5\n", review.Edits{}, "a,b",
			"field_renamed,field_removed,field_removed"},
		{"descriptor", review.Edits{}, fields(`"order":"-shift_id","charts":[{"by":"shift_id"},{"by":"name"}]`), "",
			review.Edits{}, "id,name", "field_removed"},
		{"order", review.Edits{}, fields(`"order":{"field":"shift_id"},"include":{"id":["1","2","3"]}`), "",
			review.Edits{}, "id,name", "field_removed"},
		{"two conditions", review.Edits{}, fields(`"exclude":{"id":["1"],"shift":["pm"]}`), "", review.Edits{},
			"id,name", "field_removed,rows_exposed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t, nodeOptions{})
			if tt.descriptor != "" {
				if p := n.put(prices, "prices.csv", first, tt.descriptor, nil); p.State != publish.StateLive {
					t.Fatalf("the first version: %s", p.Result.Error)
				}
			} else {
				id := n.create("prices.csv", first)
				n.edit(id, tt.live)
				n.publish(id, false, "")
			}
			content := tt.file
			if content == "" {
				content = second
			}
			id := n.create("prices.csv", content)
			r := n.edit(id, tt.edits)
			var kinds []string
			for _, c := range r.Changes {
				if c.Breaking {
					kinds = append(kinds, string(c.Kind))
				}
			}
			if got := strings.Join(kinds, ","); r.Error != "" || got != tt.kinds {
				t.Errorf("breaking changes %s; want %s: %q\n%+v", got, tt.kinds, r.Error, r.Changes)
			}
			if p := n.publish(id, false, r.Live); p.State != publish.StateRejected {
				t.Errorf("without consent, the publish is %s", p.State)
			}
			published := checkPublish(t, n, id, "prices.csv", content)
			var names []string
			for _, f := range published.Result.Fields {
				names = append(names, f.Name)
			}
			if got := strings.Join(names, ","); got != tt.want {
				t.Errorf("the fields are %s; want %s", got, tt.want)
			}
			live, err := n.library.LiveVersion(t.Context(), prices)
			must.NoError(t, err)
			if live.Settings != nil && live.Settings.Descriptor != nil {
				if text, _ := json.Marshal(live.Settings.Descriptor); strings.Contains(string(text), "shift") &&
					tt.descriptor == "" { // the primary key of a descriptor is not used
					t.Errorf("the descriptor still has the column: %s", text)
				}
			}
			if n.review(n.create("prices.csv", content)).Error != "" {
				t.Error("the same file cannot be published again")
			}
		})
	}
}

// TestReview_otherFile sends a file without any column that may be published: its settings do not
// fit, and nothing that was hidden becomes public.
func TestReview_otherFile(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	id := n.create("prices.csv", "id,name,salary\n1,fern,10\n2,moss,20\n3,yew,30\n")
	n.edit(id, review.Edits{Columns: map[int]review.ColumnEdit{2: {Hidden: true}}})
	n.publish(id, false, "")
	r := n.review(n.create("prices.csv", "salary,Salary\n1,2\n3,4\n"))
	if !strings.Contains(r.Error, "no such column") || len(versions.RequiredConsents(r.Changes)) != 0 {
		t.Errorf("the error is %q", r.Error)
	}
}
