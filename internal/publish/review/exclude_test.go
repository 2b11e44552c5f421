package review_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/publish/review"
	"herbarium/internal/versions"
)

// TestReview_exclude leaves out a total by its value, also of the next file, and keeps it again.
func TestReview_exclude(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	file := func(rows string) string { return "name,sold\nAda,3\nBob,4\n" + rows }
	leaveOut := review.Edits{Exclude: []review.ValueEdit{{Column: 0, Value: "Total"}}}

	first := n.create("sales.csv", file("Cy,5\nTotal,12\n"))
	r := n.review(first)
	if r.Records != 4 || len(r.Excluded) != 0 {
		t.Fatalf("%d records, excluded %+v", r.Records, r.Excluded)
	}
	r = n.edit(first, leaveOut)
	if len(r.Excluded) != 1 || r.Excluded[0].Rows != 1 || r.Excluded[0].Position != 0 || r.Records != 3 ||
		r.LeftOut != 1 || r.Error != "" {
		t.Fatalf("excluded %+v, %d records, %d left out, %q", r.Excluded, r.Records, r.LeftOut, r.Error)
	}
	if last := r.Rows[len(r.Rows)-1]; last.Kind != review.RowLeftOut || !last.ByValue {
		t.Errorf("the last row is %+v", last)
	}
	renamed := leaveOut
	renamed.Columns = map[int]review.ColumnEdit{0: {Name: "seller"}}
	r = n.edit(first, renamed)
	if r.Error != "" || r.Records != 3 {
		t.Fatalf("a renamed column: %q, %d records", r.Error, r.Records)
	}
	n.publish(first, true, "")

	// The next file is longer. Another name of the column does not change the rule.
	next := n.create("sales.csv", file("Cy,5\nDee,8\nTotal,20\n"))
	r = n.review(next)
	if r.Records != 4 || len(r.Excluded) != 1 || r.Excluded[0].Value != "Total" {
		t.Fatalf("%d records, excluded %+v", r.Records, r.Excluded)
	}
	again := review.Edits{Columns: map[int]review.ColumnEdit{0: {Name: "who"}}}
	r = n.edit(next, again)
	if r.Error != "" || r.Records != 4 {
		t.Errorf("renamed again: %q, %d records", r.Error, r.Records)
	}
	keep := review.Edits{Exclude: []review.ValueEdit{{Column: 0, Value: "Total", Keep: true}}}
	r = n.edit(next, keep)
	if r.Records != 5 || len(r.Excluded) != 0 {
		t.Errorf("kept: %d records, excluded %+v", r.Records, r.Excluded)
	}
	if consents := versions.RequiredConsents(r.Changes); len(consents) != 1 || consents[0] != herb.ConsentExposure {
		t.Errorf("keeping the row requires %v", consents)
	}
	if d, err := n.reviews.Descriptor(t.Context(), next); err != nil || strings.Contains(string(d), "exclude") {
		t.Errorf("the descriptor is %s, %v", d, err)
	}
	r = n.edit(next, review.Edits{Exclude: []review.ValueEdit{{Column: 7, Value: "x"}}})
	if !strings.Contains(r.Error, "2 columns") || len(r.Rows) == 0 {
		t.Errorf("an unknown column: %q, %d rows", r.Error, len(r.Rows))
	}
}

// TestReview_excludeFields keeps the rule of a descriptor that names a field, and its other values.
func TestReview_excludeFields(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	const descriptor = `{"name":"shop","resources":[{"name":"prices","path":"x.csv","herbarium":{"exclude":{"seller":"Sum"}},
		"schema":{"fields":[{"name":"seller","herbarium":{"from":"name"}},{"name":"sold"}]}}]}`
	n.put(prices, "x.csv", "name,sold\nAda,3\nSum,3\n", descriptor, nil)
	id := n.create("x.csv", "name,sold\nAda,3\nBob,4\nSum,7\nTotal,7\n")
	r := n.edit(id, review.Edits{Exclude: []review.ValueEdit{{Column: 0, Value: "Total"}},
		Columns: map[int]review.ColumnEdit{0: {Name: "who"}}})
	if r.Error != "" || r.Records != 2 || len(r.Excluded) != 2 {
		t.Errorf("%q, %d records, excluded %+v", r.Error, r.Records, r.Excluded)
	}
}
