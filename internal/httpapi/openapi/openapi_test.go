package openapi

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// TestLimits compares the limits in openapi.json with those of the code.
func TestLimits(t *testing.T) {
	t.Parallel()
	body, err := Generate(nil, 0, Options{Features: Features{Plants: true, Publishing: true}})
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
		{"groups", []string{"parameters", "groupTop", "schema", "maximum"}, query.MaxGroupsReturned},
		{"groups of a file", []string{"parameters", "exportedGroups", "schema", "maximum"}, query.MaxGroups},
		{"default groups", []string{"parameters", "groupTop", "schema", "default"}, query.DefaultGroups},
		{"offset of groups", []string{"parameters", "groupOffset", "schema", "maximum"}, query.MaxGroups},
		{"returned groups", []string{"schemas", "Aggregate", "properties", "data", "maxItems"},
			query.MaxGroupsReturned},
		{"labels of groups", []string{"parameters", "group", "schema", "maxItems"}, query.MaxLabels},
		{"labels of series", []string{"parameters", "series", "schema", "maxItems"}, query.MaxLabels},
		{"fields to group by", []string{"parameters", "by", "schema", "maxItems"}, query.MaxBy},
		{"measures", []string{"parameters", "measure", "schema", "maxItems"}, query.MaxMeasuresOfAll},
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

// TestGenerate_withoutPlants generates the document of a service without a plant store, which does
// not mention it.
func TestGenerate_withoutPlants(t *testing.T) {
	t.Parallel()
	body, err := Generate(nil, 0, Options{Features: Features{Publishing: true}})
	if err != nil || !json.Valid(body) {
		t.Fatalf("error %v in %s", err, body)
	}
	if at := strings.Index(strings.ToLower(string(body)), "plant"); at >= 0 {
		t.Errorf("the document mentions plants: …%.200s", body[max(0, at-100):])
	}
}

// TestGenerate_withoutPublishing generates the document of a service to which nothing can be
// published.
func TestGenerate_withoutPublishing(t *testing.T) {
	t.Parallel()
	body, err := Generate(nil, 0, Options{Features: Features{Plants: true}})
	if err != nil || !json.Valid(body) {
		t.Fatalf("error %v in %s", err, body)
	}
	for _, word := range []string{"/publishes", "/source", "Publishing", "`publish`"} {
		if at := strings.Index(string(body), word); at >= 0 {
			t.Errorf("the document mentions %s: …%.200s", word, body[max(0, at-100):])
		}
	}
	var doc struct {
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	for _, reference := range regexp.MustCompile(`"#/components/schemas/([^"]+)"`).FindAllSubmatch(body, -1) {
		if doc.Components.Schemas[string(reference[1])] == nil {
			t.Errorf("the document refers to the schema %s, which it does not have", reference[1])
		}
	}
}

func TestIsPortable(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"price": true, "a b": true, "a-b": true, "a.b": true, "-x": true, "1st": true, "price[gte]": true,
		"Größe (m)": true, "日本": true,
		"a/b": true, "*/": true, "-": false, `a"b`: false, "a`b": false, `a\b`: false, "a'b": false, "a,b": false,
		"a&b": false, "a=b": false,
		"a#b": false, "a%b": false, "a+b": false, "$ref": false, "🌵": false, "a\nb": false, "__proto__": false,
		"toString": false,
	} {
		if got := isPortable(name); got != want {
			t.Errorf("%q: %t, want %t", name, got, want)
		}
	}
}

func TestUniqueNames_identifier(t *testing.T) {
	t.Parallel()
	u := uniqueNames{}
	var got []string
	for _, r := range []herb.Ref{
		{Namespace: "a", Name: "b-c"}, {Namespace: "a", Name: "b.c"}, {Namespace: "a-b", Name: "c"},
		{Namespace: "a", Name: "b-c-2"},
		{Namespace: "a", Name: "b1"}, {Namespace: "a", Name: "b-1"}, {Namespace: "ab", Name: "c"},
	} {
		got = append(got, u.identifier(r))
	}
	want := []string{"a_b_c", "a_b_c_2", "a_b_c_3", "a_b_c_2_2", "a_b1", "a_b_1_2", "ab_c"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("identifiers (-want +got):\n%s", diff)
	}
}

func TestUniqueNames_goName(t *testing.T) {
	t.Parallel()
	u := uniqueNames{"Page": true}
	var got []string
	names := []string{"a-b", "a.b", "A_B", "price", "price[gte]", "price_gte", "page", "1st", "日本", "🌵", "-x", "x",
		"Größe (m)"}
	for _, name := range names {
		got = append(got, u.goName(name))
	}
	want := []string{"", "AB2", "AB3", "", "", "PriceGte2", "Page2", "Field1st", "Field", "Field2", "X", "X2", "GrEM"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
