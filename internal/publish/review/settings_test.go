package review_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/publish/review"
)

// TestReview_dateFormat chooses notations of dates, and makes errors in them.
func TestReview_dateFormat(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	id := n.create("sightings.csv", "id,seen\n1,10142018\n2,10192018\n3,03132018\n")
	for _, tt := range []struct{ format, problem string }{
		{"%d%m%Y", `"10142018" (line 2) is not a date in the declared notation`},
		{"%x", "unsupported directive"}, {"%H:%M", "does not describe a date"},
	} {
		r := n.edit(id, review.Edits{Columns: map[int]review.ColumnEdit{1: {Type: herb.TypeDate, Format: tt.format}}})
		if r.Field != "seen" || !strings.Contains(r.Problem, tt.problem) || r.Columns[1].Edit.Format != tt.format {
			t.Errorf("%s: the field is %q, the problem %q", tt.format, r.Field, r.Problem)
		}
	}
	r := n.edit(id, review.Edits{Columns: map[int]review.ColumnEdit{1: {Type: herb.TypeDate, Format: "%m%d%Y"}}})
	if r.Error != "" || r.Columns[1].Type != herb.TypeDate || r.Columns[1].Format != "%m%d%Y" {
		t.Errorf("%q, %+v", r.Error, r.Columns[1])
	}
}

// TestReview_settings changes the settings of a dataset without its file, and with a descriptor.
func TestReview_settings(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	id := n.create("prices.csv", "id,name\n1,fern\n2,moss\n")
	n.review(id)
	n.publish(id, false, "")
	d, err := n.reviews.Restore(t.Context(), prices, review.Edits{}, actor)
	must.NoError(t, err)
	if r := n.review(d.ID); !r.Unchanged || r.Draft.Name != "prices.csv" || r.Expected != "" {
		t.Errorf("the kept file changes something: %+v", r)
	}
	if _, err := n.reviews.Edit(t.Context(), d.ID, func(e review.Edits) (review.Edits, error) {
		e.Expected = new("often")
		return e, nil
	}); herb.CodeOf(err) != herb.CodeInvalid {
		t.Errorf("an unknown interval gives %v", err)
	}
	r := n.edit(d.ID, review.Edits{Title: new("Prices"), Expected: new("monthly"), Access: herb.AccessKey})
	if r.Unchanged || r.Title != "Prices" || r.Expected != "monthly" || r.Access != herb.AccessKey {
		t.Errorf("the review is %+v", r)
	}
	n.publish(d.ID, true, r.Live)
	live, err := n.library.LiveVersion(t.Context(), prices)
	must.NoError(t, err)
	if live.Title != "Prices" || live.Access != herb.AccessKey || live.Records != 2 ||
		!strings.Contains(string(live.Settings.Descriptor), `"expected":"monthly"`) {
		t.Errorf("live is %+v, %s", live, live.Settings.Descriptor)
	}
	sent, err := review.NewDescriptor(prices, "", []byte("resources: [{name: prices, title: Sent, path: x, "+
		"schema: {fields: [{name: id, type: integer}]}}]"))
	must.NoError(t, err)
	d, err = n.reviews.Restore(t.Context(), prices, review.Edits{Descriptor: sent}, actor)
	must.NoError(t, err)
	r = n.review(d.ID)
	kinds := map[string]bool{}
	for _, c := range r.Changes {
		kinds[string(c.Kind)] = c.Breaking
	}
	if r.Error != "" || r.Title != "Sent" || r.Expected != "" || r.Access != herb.AccessOpen ||
		r.Columns[1].Field != "" {
		t.Errorf("the review is %+v", r)
	}
	if len(kinds) != 2 {
		t.Errorf("the changes are %+v; a public dataset and a removed column need consents", r.Changes)
	}
	r = n.edit(d.ID, review.Edits{Descriptor: sent, Access: herb.AccessKey,
		Columns: map[int]review.ColumnEdit{1: {Title: new("Name")}}})
	if r.Error != "" || r.Access != herb.AccessKey || r.Columns[1].Field != "name" {
		t.Errorf("edits on top of a descriptor: %+v", r)
	}
	absent := herb.Ref{Namespace: "shop", Name: "none"}
	if _, err := n.reviews.Restore(t.Context(), absent, review.Edits{}, actor); herb.CodeOf(err) != herb.CodeNotFound {
		t.Errorf("a dataset that does not exist gives %v", err)
	}
}
