package review_test

import (
	"strings"
	"sync"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/publish/review"
)

// TestReview_sameNames renames a column to the name of another one. The error is about that column,
// and the other edits are shown.
func TestReview_sameNames(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	id := n.create("prices.csv", "id,name,price,note\n1,fern,2,a\n2,moss,3,b\n3,yew,4,c\n")
	edits := review.Edits{Drop: []int{3}, Columns: map[int]review.ColumnEdit{0: {Name: "code"}, 1: {Name: "price"},
		3: {Hidden: true}}}
	for _, name := range []string{"price", "code"} {
		edits.Columns[1] = review.ColumnEdit{Name: name}
		r := n.edit(id, edits)
		if r.Field != name || !strings.HasPrefix(r.Problem, "another column has the name") ||
			strings.Contains(r.Error, "resources") {
			t.Errorf("the field is %q, the problem %q, the error %q", r.Field, r.Problem, r.Error)
		}
		var fields []string
		for _, c := range r.Columns {
			fields = append(fields, c.Field)
		}
		if got := strings.Join(fields, ","); got != "code,"+name+",price," || r.Records != 2 {
			t.Errorf("the fields are %s of %d records", got, r.Records)
		}
	}
	edits.Columns[1] = review.ColumnEdit{Name: "plant"}
	if r := n.edit(id, edits); r.Error != "" || r.Columns[1].Field != "plant" {
		t.Errorf("got %q", r.Error)
	}
	edits.Columns[2] = review.ColumnEdit{Type: herb.TypeDate}
	if r := n.edit(id, edits); r.Field != "price" || r.Columns[0].Field != "code" || r.Columns[3].Field != "" {
		t.Errorf("with a type that does not fit, the columns are %+v", r.Columns)
	}
}

// TestReview_keyFollowsNames chooses a key, and renames its column before and after.
func TestReview_keyFollowsNames(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	id := n.create("prices.csv", "id,name,price\n1,fern,2\n2,moss,3\n")
	for _, name := range []string{"", "code", "name"} {
		e := review.Edits{PrimaryKey: &[]string{"id"}, Columns: map[int]review.ColumnEdit{0: {Name: name}}}
		want := name
		switch name {
		case "":
			want = "id"
		case "name": // the columns swap their names
			e.Columns[1] = review.ColumnEdit{Name: "id"}
		}
		r := n.edit(id, e)
		if r.Error != "" || strings.Join(r.Key, ",") != want || r.Columns[0].Field != want ||
			r.Columns[0].Original != "id" {
			t.Errorf("with the name %q, the key is %q, the original name %q: %s", name, r.Key,
				r.Columns[0].Original, r.Error)
		}
		e.Columns[2] = review.ColumnEdit{Type: herb.TypeDate}
		if r := n.edit(id, e); r.Error == "" || strings.Join(r.Key, ",") != want || r.Columns[0].Original != "id" {
			t.Errorf("with the name %q and an error, the key is %q: %s", name, r.Key, r.Error)
		}
	}
}

// TestReview_removesTitle removes the title of a column that the live version has.
func TestReview_removesTitle(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	const file = "id,name\n1,fern\n2,moss\n"
	n.put(prices, "prices.csv", file,
		`{"resources":[{"name":"prices","path":"prices.csv","schema":{"fields":[{"name":"id","title":"Number"},{"name":"name"}]}}]}`, nil)
	id := n.create("prices.csv", file)
	if r := n.review(id); r.Columns[0].Title != "Number" {
		t.Fatalf("the title is %q", r.Columns[0].Title)
	}
	r := n.edit(id, review.Edits{Columns: map[int]review.ColumnEdit{0: {Title: new("")}}})
	if r.Columns[0].Title != "" || r.Error != "" {
		t.Errorf("the title is %q: %s", r.Columns[0].Title, r.Error)
	}
	n.publish(id, true, r.Live)
	live, err := n.library.LiveVersion(t.Context(), prices)
	must.NoError(t, err)
	if live.Fields[0].Title != "" {
		t.Errorf("the title %q is live", live.Fields[0].Title)
	}
}

// TestReview_longMissing treats long values as missing.
func TestReview_longMissing(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	long := strings.Repeat("the price depends on the season; ", 20)
	var file strings.Builder
	file.WriteString("id,price\n")
	for range 200 {
		file.WriteString("1,2.5\n")
	}
	file.WriteString("2," + long + "\n")
	id := n.create("prices.csv", file.String())
	n.review(id)
	c := n.edit(id, review.Edits{Columns: map[int]review.ColumnEdit{1: {Type: herb.TypeNumber}}}).Columns[1]
	if len(c.Others) != 1 || c.Others[0].Value != long || c.Others[0].IsShort {
		t.Fatalf("the values that prevent the type are %+v", c.Others)
	}
	r := n.edit(id, review.Edits{
		Columns: map[int]review.ColumnEdit{1: {Type: herb.TypeNumber, Missing: []string{c.Others[0].Value}}}})
	if r.Error != "" || r.Columns[1].Type != herb.TypeNumber {
		t.Errorf("the type is %s: %s", r.Columns[1].Type, r.Error)
	}
}

// TestReview_concurrentEdits edits a draft in several requests at once. None is lost.
func TestReview_concurrentEdits(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	id := n.create("prices.csv", "a,b,c,d,e\n1,2,3,4,5\n")
	var requests sync.WaitGroup
	for position := range 4 {
		requests.Go(func() {
			_, err := n.reviews.Edit(t.Context(), id, func(e review.Edits) (review.Edits, error) {
				columns := map[int]review.ColumnEdit{position: {Hidden: true}}
				for i, c := range e.Columns {
					columns[i] = c
				}
				e.Columns = columns
				return e, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	requests.Wait()
	if got := len(n.review(id).Draft.Edits.Columns); got != 4 {
		t.Errorf("%d of 4 edits are saved", got)
	}
}
