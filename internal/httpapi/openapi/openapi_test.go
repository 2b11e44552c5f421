package openapi

import (
	"encoding/json"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// TestLimits compares the limits in openapi.json with those of the code.
func TestLimits(t *testing.T) {
	t.Parallel()
	body, err := Generate("", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	lookup := func(path ...string) any {
		v := doc
		for _, name := range path {
			members, ok := v.(map[string]any)
			if !ok || members[name] == nil {
				t.Fatalf("no member %s of %v", name, path)
			}
			v = members[name]
		}
		return v
	}
	for _, tc := range []struct {
		name string
		path []string
		want int
	}{
		{"page", []string{"parameters", "page", "schema", "maximum"}, query.MaxPage},
		{"per_page", []string{"parameters", "per_page", "schema", "maximum"}, query.MaxPerPage},
		{"default per_page", []string{"parameters", "per_page", "schema", "default"}, query.DefaultPerPage},
		{"per_page in meta", []string{"schemas", "Meta", "properties", "per_page", "maximum"}, query.MaxPerPage},
		{"top", []string{"parameters", "top", "schema", "maximum"}, query.MaxTop},
		{"default top", []string{"parameters", "top", "schema", "default"}, query.DefaultTop},
		{"offset", []string{"parameters", "offset", "schema", "maximum"}, query.MaxValueOffset},
		{"buckets", []string{"parameters", "buckets", "schema", "maximum"}, query.MaxBuckets},
		{"default buckets", []string{"parameters", "buckets", "schema", "default"}, query.DefaultBuckets},
		{"sort fields", []string{"parameters", "sort", "schema", "maxItems"}, query.MaxSortFields},
		{"fields of facets", []string{"parameters", "countedField", "schema", "maxItems"}, query.MaxFacetFields},
		{"values of a facet", []string{"schemas", "Facet", "properties", "values", "maxItems"}, query.MaxTop},
		{"cells of a grid", []string{"schemas", "Grid", "properties", "data", "maxItems"}, query.MaxGridCells},
		{"weight", []string{"schemas", "Field", "properties", "weight", "maximum"}, herb.MaxWeight},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := lookup(append([]string{"components"}, tc.path...)...); got != float64(tc.want) {
				t.Errorf("%v is %v, want %d", tc.path, got, tc.want)
			}
		})
	}
}
