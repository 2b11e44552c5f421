package review_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/publish/review"
)

// TestReview_categories checks that categories of the live version apply to the next file, that
// edits keep them, and that a type that has none is an error.
func TestReview_categories(t *testing.T) {
	t.Parallel()
	const described = `{"name":"shop","resources":[{"name":"p","path":"old.csv","schema":{"fields":[{"name":"id"},
		{"name":"state","type":"integer","categories":[{"value":1,"label":"living"},{"value":2,"label":"lost"}],"categoriesOrdered":true}]}}]}`
	const table = "id,state\na,1\nb,2\n"
	n := newNode(t, nodeOptions{})
	n.put(prices, "old.csv", table, described, nil)
	content := table + "c,1\n"
	id := n.create("prices.csv", content)
	n.review(id)
	edit := func(c review.ColumnEdit) (problem string) {
		return n.edit(id, review.Edits{Columns: map[int]review.ColumnEdit{1: c}}).Error
	}
	if problem := edit(review.ColumnEdit{Type: herb.TypeDate}); !strings.Contains(problem, "categories applies only") {
		t.Errorf("a date has categories: %q", problem)
	}
	problem := edit(review.ColumnEdit{Name: "status", Title: new("Status"), Type: herb.TypeText})
	if problem != "" {
		t.Fatal(problem)
	}
	checkPublish(t, n, id, "prices.csv", content)
	d, err := n.library.LiveVersion(t.Context(), prices)
	must.NoError(t, err)
	if f := d.Fields[1]; f.Name != "status" || f.Type != herb.TypeText || herb.ListCategories(f.Categories) !=
		"1 = living, 2 = lost" || !f.Ordered {
		t.Errorf("published the field %+v", f)
	}
	id = n.create("prices.csv", content+"d,7\n")
	if r := n.review(id); !strings.Contains(r.Error, `"7", which is none of the categories 1, 2`) {
		t.Errorf("another value: %q", r.Error)
	}
}
