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
		if want := map[int]int{0: 1, 50: 20_000, 100: 40_000}[s.Depth]; r.Page != want {
			t.Errorf("%s: page %d; want %d", s.Name, r.Page, want)
		}
	}
}

func TestRaw(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		depth, total int
		want         string
	}{
		{0, 0, "sort=id"},
		{100, 0, "sort=id"},
		{100, 25, "sort=id"},
		{100, 26, "sort=id&page=2"},
		{50, 75, "sort=id&page=2"},
		{10, 1_000_000, "sort=id&page=4000"},
		{100, 1_000_000, "sort=id&page=40000"},
	} {
		if got := (shapes.Shape{Query: "sort=id", Depth: c.depth}).Raw(c.total); got != c.want {
			t.Errorf("page at %d %% of %d records: %s; want %s", c.depth, c.total, got, c.want)
		}
	}
}

// TestRandom checks that random requests cover what an engine evaluates differently.
func TestRandom(t *testing.T) {
	t.Parallel()
	r, again := shapes.NewRandom(1, 1000), shapes.NewRandom(1, 1000)
	seen := map[string]bool{}
	for range 2000 {
		s := r.Next()
		if s != again.Next() {
			t.Fatal("the same seed gives other requests")
		}
		params, err := query.ParseParams(s.Query)
		if err != nil {
			t.Fatal(err)
		}
		seen[s.Path()] = true
		for _, p := range params {
			switch _, op, ok := query.ResolveFilter(p.Name, gen.Fields()); {
			case ok:
				seen["op "+string(op)] = true
			case p.Name == query.ParamSearch:
				for _, form := range []string{`"`, "*", "-"} {
					seen[form] = seen[form] || strings.Contains(p.Value, form)
				}
			default:
				seen[p.Name+" "+p.Value] = true
			}
		}
	}
	want := []string{"/data", "/facets", `"`, "*", "-", "order asc", "order desc"}
	for _, op := range query.Ops() {
		want = append(want, "op "+string(op))
	}
	for _, f := range gen.Fields() {
		want = append(want, "sort "+f.Name, "field "+f.Name)
	}
	for _, w := range want {
		if !seen[w] {
			t.Errorf("no request has %s", w)
		}
	}
}

func TestCliffs(t *testing.T) {
	t.Parallel()
	for _, s := range shapes.Cliffs() {
		var err error
		if s.Facets {
			_, err = query.ParseFacets(s.Query, gen.Fields())
		} else {
			_, err = query.Parse(s.Raw(1_000_000), gen.Fields())
		}
		if err != nil || s.Name == "" || s.Title == "" || strings.ContainsAny(s.Name, " /_") {
			t.Errorf("%q: %v", s.Name, err)
		}
	}
}
