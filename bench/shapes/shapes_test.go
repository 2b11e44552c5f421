package shapes_test

import (
	"strings"
	"testing"

	"herbarium/bench/gen"
	"herbarium/bench/shapes"
	"herbarium/internal/query"
)

func TestAll(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range shapes.All() {
		if seen[s.Name] || s.Name == "" || s.Title == "" || strings.ContainsAny(s.Name, " /_") {
			t.Errorf("the name %q, title %q is missing, taken or no word", s.Name, s.Title)
		}
		seen[s.Name] = true
		r, err := query.Parse(s.Raw(1_000_000), gen.Fields())
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		if got := r.ByRelevance(); got != s.Relevance() {
			t.Errorf("%s: by relevance is %v, and the request says %v", s.Name, s.Relevance(), got)
		}
		if want := map[shapes.Depth]int{shapes.First: 1, shapes.Middle: 20_000, shapes.Last: 40_000}[s.Depth]; r.Page != want {
			t.Errorf("%s: page %d; want %d", s.Name, r.Page, want)
		}
	}
}

func TestDepth_Page(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		depth       shapes.Depth
		total, want int
	}{
		{shapes.First, 0, 1},
		{shapes.Last, 0, 1},
		{shapes.Last, 25, 1},
		{shapes.Last, 26, 2},
		{shapes.Middle, 75, 2},
		{10, 1_000_000, 4000},
		{shapes.Last, 1_000_000, 40_000},
	} {
		if got := c.depth.Page(c.total); got != c.want {
			t.Errorf("page at %d %% of %d records: %d; want %d", c.depth, c.total, got, c.want)
		}
	}
}
