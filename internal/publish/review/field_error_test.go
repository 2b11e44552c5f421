package review_test

import (
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/publish/review"
)

// TestReview_fieldError checks that a review names the column whose type does not fit, and why.
func TestReview_fieldError(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	id := n.create("prices.csv", "id,name\n1,fern\n2,moss\n")
	r := n.edit(id, review.Edits{Columns: map[int]review.ColumnEdit{1: {Type: herb.TypeNumber}}})
	if r.Field != "name" || r.Problem != `"fern" (line 2) is not a number, as declared` {
		t.Errorf("the field is %q, the problem %q; the error is %q", r.Field, r.Problem, r.Error)
	}
}
