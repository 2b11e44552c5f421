package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/query"
)

// orders returns a dataset with 19 fields.
func orders() herb.Dataset {
	d := herb.Dataset{Ref: herb.Ref{Namespace: "shop", Name: "orders"}, Version: "v1", Access: herb.AccessOpen}
	for i := range 19 {
		f := herb.Field{Name: fmt.Sprintf("Column %d", i), Type: herb.TypeText, Searchable: i%2 == 0, Filterable: true,
			Sortable: true}
		if i%3 == 0 {
			f.Type, f.Searchable = herb.TypeNumber, false
		}
		d.Fields = append(d.Fields, f)
	}
	d.Fields[1].Name, d.Fields[1].Type, d.Fields[1].Searchable = "day", herb.TypeDate, false
	d.Fields[2].Name, d.Fields[3].Name, d.Fields[4].Name = "price", "price[gte]", "page"
	d.Fields[2].Type, d.Fields[2].Searchable = herb.TypeNumber, false
	return d
}

// TestGenerate_single generates the document of one dataset: its operations with its fields, and
// nothing that they do not refer to.
func TestGenerate_single(t *testing.T) {
	t.Parallel()
	features := Features{Plants: true, Publishing: true}
	whole, err := Generate([]herb.Dataset{orders()}, 1, Options{Features: features, Typed: true})
	must.NoError(t, err)
	body, err := Generate([]herb.Dataset{orders()}, 1, Options{Features: features, Typed: true, Single: true})
	must.NoError(t, err)
	if 3*len(body) > len(whole) {
		t.Errorf("the document has %d bytes, more than a third of %d", len(body), len(whole))
	}
	var doc struct {
		Paths      map[string]map[string]operation
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ Type any }
			}
			Parameters         map[string]parameter
			Responses, Headers map[string]any
		}
	}
	must.NoError(t, json.Unmarshal(body, &doc))
	const path = "/api/v1/shop/orders"
	want := []string{"", "/aggregate", "/aggregate.csv", "/changes", "/changes.csv", "/changes.ndjson", "/data",
		"/data.csv", "/data.ndjson", "/data.parquet", "/data.xlsx", "/facets", "/grid", "/versions"}
	for i := range want {
		want[i] = path + want[i]
	}
	if got := slices.Sorted(maps.Keys(doc.Paths)); !slices.Equal(got, want) {
		t.Errorf("the paths are %q", got)
	}
	for _, found := range reference.FindAllSubmatch(body, -1) {
		var all []string
		switch string(found[1]) {
		case "schemas":
			all = slices.Collect(maps.Keys(doc.Components.Schemas))
		case "parameters":
			all = slices.Collect(maps.Keys(doc.Components.Parameters))
		case "responses":
			all = slices.Collect(maps.Keys(doc.Components.Responses))
		case "headers":
			all = slices.Collect(maps.Keys(doc.Components.Headers))
		}
		if !slices.Contains(all, string(found[2])) {
			t.Errorf("the document refers to %s, which it does not have", found[0])
		}
	}
	if typed := doc.Components.Parameters["typed"].Schema; typed["type"] != "boolean" {
		t.Errorf("_typed is %v", typed)
	}
	for _, operation := range []string{"/data", "/data.csv", "/facets", "/aggregate", "/grid"} {
		filters := map[string]string{}
		for _, p := range doc.Paths[path+operation]["get"].Parameters {
			if p.Style == "deepObject" {
				filters[p.Name] = strings.TrimPrefix(p.Schema["$ref"].(string), "#/components/schemas/")
			}
		}
		if filters["Column 0"] != "NumberFilter" || filters["Column 8"] != "SearchableTextFilter" ||
			filters["day"] != "DateFilter" || filters["price[gte]"] != "NumberFilter" ||
			(filters["page"] != "") != slices.Contains([]string{"/aggregate", "/grid"}, operation) {
			t.Errorf("%s: filters %v", operation, filters)
		}
	}
	number, text := doc.Components.Schemas["NumberFilter"].Properties, doc.Components.Schemas["TextFilter"].Properties
	if len(number) != len(query.FieldOps(orders().Fields[0])) || number["empty"].Type != "boolean" ||
		fmt.Sprint(number["gte"].Type) != "[number string]" || text["contains"].Type != "string" {
		t.Errorf("operators of numbers %v, of texts %v", number, text)
	}
	values := func(name string) string {
		for _, p := range doc.Paths[path+"/aggregate"]["get"].Parameters {
			if p.Name == name {
				return fmt.Sprint(p.Schema["items"].(map[string]any)["enum"])
			}
		}
		return ""
	}
	if by := values("_by"); !strings.Contains(by, " day day:year ") || !strings.Contains(by, " price price:log ") {
		t.Errorf("fields to group by: %s", by)
	}
	if measures := values("_measure"); !strings.HasPrefix(measures, "[count ") ||
		!strings.Contains(measures, " sum:price ") || strings.Contains(measures, "sum:day") ||
		!strings.Contains(measures, " p90:price ") || !strings.Contains(measures, " max:day ") {
		t.Errorf("measures: %s", measures)
	}
}
