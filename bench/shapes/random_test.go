package shapes_test

import (
	"strings"
	"testing"

	"herbarium/bench/gen"
	"herbarium/bench/shapes"
	"herbarium/internal/query"
)

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
