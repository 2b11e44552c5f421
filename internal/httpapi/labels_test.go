package httpapi_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
)

// beds returns a dataset with category labels of numbers and texts, and categories without labels.
func beds() (herb.Dataset, []herb.Record) {
	d := herb.Dataset{Ref: herb.Ref{Namespace: "garden", Name: "beds"}, Version: "v1", Fields: []herb.Field{
		{Name: "id", Type: herb.TypeNumber, Filterable: true, Sortable: true},
		{Name: "status", Type: herb.TypeNumber, Searchable: true, Filterable: true, Sortable: true,
			Categories: []herb.Category{{Value: "1", Label: `living "oak"`}, {Value: "2", Label: "<removed>"},
				{Value: "3"}}},
		{Name: "size", Type: herb.TypeText, Filterable: true, Sortable: true, Ordered: true,
			Categories: []herb.Category{{Value: "S", Label: "small"}, {Value: "L", Label: "large, very"}}},
		{Name: "soil", Type: herb.TypeText, Filterable: true, Sortable: true,
			Categories: []herb.Category{{Value: "clay"}, {Value: "sand"}}},
	}}
	d.PrimaryKey = []string{"id"}
	return d, []herb.Record{
		{"1", "1.0", "L", "clay"}, {"2", "2", "", "sand"}, {"3", "3", "S", ""}, {"4", "1", "L", "clay"},
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	s.library.put(beds())
	const meta = `"meta":{"total":1,"page":1,"per_page":25,"total_pages":1,"has_next":false,"has_prev":false}}`
	const first = `{"id":"1","status":"1.0","status_label":"living \"oak\"","size":"L","size_label":"large, very","soil":"clay"}`
	const second = `{"id":"2","status":"2","status_label":"<removed>","size":"","size_label":"","soil":"sand"}`
	const third = `{"id":"3","status":"3","status_label":"","size":"S","size_label":"small","soil":""}`
	const base = "/api/v1/garden/beds"
	for _, tt := range []struct{ target, want string }{
		{"/data?_labels=true&id=1", `{"data":[` + first + `],` + meta},
		{"/data?_labels=true&_fields=size,id&id=2", `{"data":[{"size":"","size_label":"","id":"2"}],` + meta},
		{"/data?_labels=true&_fields=soil,id&id=2", `{"data":[{"soil":"sand","id":"2"}],` + meta},
		{"/data?_labels=true&_typed=true&id=3",
			`{"data":[{"id":3,"status":3,"status_label":"","size":"S","size_label":"small","soil":null}],` + meta},
		{"/data/3?_labels=true", third},
		{"/data/3?_labels=true&_fields=status", `{"status":"3","status_label":""}`},
		{"/data.ndjson?_labels=true&id[lte]=3", first + "\n" + second + "\n" + third + "\n"},
		{"/data.csv?_labels=true&id[lte]=2", "id,status,status_label,size,size_label,soil\r\n" +
			"1,1.0,\"living \"\"oak\"\"\",L,\"large, very\",clay\r\n2,2,<removed>,,,sand\r\n"},
		{"/data.csv?_labels=true&_typed=true&id=1&_fields=status,soil", "status,status_label,soil\r\n" +
			"1.0,\"living \"\"oak\"\"\",clay\r\n"},
		{"/data?search=oak&sort=-id&_fields=id", `{"data":[{"id":"4"},{"id":"1"}],` +
			strings.Replace(meta, `"total":1`, `"total":2`, 1)},
		{"/data?status[match]=removed&_fields=id", `{"data":[{"id":"2"}],` + meta},
		{"/data?_labels=false&_fields=status&id=2", `{"data":[{"status":"2"}],` + meta},
		{"/facets?field=status&field=soil&top=2&buckets=0", `{"data":[{"field":"status","type":"number","total":4,"empty":0,` +
			`"distinct":3,"values":[{"value":"1.0","label":"living \"oak\"","count":2},{"value":"2","label":"<removed>","count":1}],` +
			`"min":"1.0","max":"3","scale":"linear","histogram":[]},{"field":"soil","type":"text","total":4,"empty":1,"distinct":2,` +
			`"values":[{"value":"clay","count":2},{"value":"sand","count":1}]}],"meta":{"total":4}}`},
	} {
		a := s.get(t, base+tt.target)
		if got := strings.TrimSuffix(a.body, "\n"); a.status != 200 || got != strings.TrimSuffix(tt.want, "\n") {
			t.Errorf("%s: %d\n%s; want\n%s", tt.target, a.status, a.body, tt.want)
		}
	}
	with, without := s.get(t, base+"/data?_labels=true"), s.get(t, base+"/data")
	if off := s.get(t, base+"/data?_labels=false"); off.body != without.body ||
		off.header.Get("Etag") != without.header.Get("Etag") || with.header.Get("Etag") == without.header.Get("Etag") {
		t.Error("the entity tag does not follow the labels")
	}
	if a := s.get(t, base+"/data.xlsx?_labels=true"); a.status != 200 {
		t.Errorf("workbook: %d %s", a.status, a.body)
	}
	const categories = `"categories":[{"value":"S","label":"small"},{"value":"L","label":"large, very"}],"categories_ordered":true`
	if a := s.get(t, base); !strings.Contains(a.body, categories) || strings.Count(a.body, `"categories":`) != 3 {
		t.Errorf("description %s", a.body)
	}
}

func TestLabels_invalid(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	d, records := beds()
	d.Fields[3].Name = "status_label"
	s.library.put(d, records)
	const path = "/api/v1/garden/beds"
	s.checkRejections(t, []rejection{
		{"", path + "/data?_labels=yes", 400, `_labels is "yes"; it must be true or false`},
		{"", path + "/data?_labels=true&_labels=true", 400, `"_labels" is given more than once`},
		{"", path + "/data?_labels=true", 400, `the category labels of "status" as "status_label", which is a field`},
		{"", path + "/data.csv?_labels=true&_fields=status_label,status", 400, `"status_label", which is a field`},
		{"", path + "/data/1?_labels=true", 400, `"status_label", which is a field`},
		{"", path + "/facets?field=id&_labels=true", 400, `"_labels" is given, but facets`},
		{"", path + "/grid?_x=id&_y=id&_labels=true", 400, `leave "_labels" out`},
		{"", path + "/aggregate?_by=size&_labels=true", 400, `leave "_labels" out`},
		{"", path + "/data.parquet?_labels=true", 400, "takes only _types and _version"},
		{"", path + "/changes?_from=v1&_labels=true", 400, `leave "_labels" out`},
		{"", "/api/v1?_labels=true", 400, `unknown parameter "_labels"`},
	})
	if a := s.get(t, path+"/data?_labels=true&_fields=status"); a.status != 200 {
		t.Errorf("without the other field: %d %s", a.status, a.body)
	}
}

// TestLabels_protected checks that a dataset that requires a key does not show its categories.
func TestLabels_protected(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	d, records := beds()
	d.Access = herb.AccessKey
	s.library.put(d, records)
	if a := s.get(t, "/api/v1/garden/beds"); a.status != 200 || strings.Contains(a.body, "living") ||
		strings.Contains(a.body, "categories") {
		t.Errorf("description: %d %s", a.status, a.body)
	}
}

// TestLabels_agents checks that a tool describes what values mean.
func TestLabels_agents(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	s.library.put(beds())
	_, table := s.callTool(t, "describe_dataset", args{"dataset": "garden/beds"}).text()
	for _, part := range []string{`1.0 = living ""oak"" (2), 2 = <removed> (1)`,
		`(1 = living ""oak"", 2 = <removed>, 3)`, "(clay, sand)"} {
		if !strings.Contains(table, part) {
			t.Errorf("the description lacks %s:\n%s", part, table)
		}
	}
}
