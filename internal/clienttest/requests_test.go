//go:build unix

package clienttest

import (
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// plainRequest is a request without a generated client.
type plainRequest struct {
	target string // path and query; empty if literal is given
	format format
	// literal is the expected body of a request that cannot be repeated.
	literal any
}

// format is how clients report a body.
type format int

const (
	asJSON format = iota
	asText
	asBase64
)

// body returns the body of the response as clients report it.
func (r plainRequest) body(t *testing.T, server *programtest.Server) (v any) {
	t.Helper()
	if r.literal != nil {
		return r.literal
	}
	content := get(t, server.URL+r.target)
	switch r.format {
	case asText:
		return string(content)
	case asBase64:
		return base64.StdEncoding.EncodeToString(content)
	}
	must.NoError(t, json.Unmarshal(content, &v))
	if data, ok := v.(map[string]any)["data"].([]any); ok && len(data) == 0 {
		t.Errorf("%s lists nothing, so its filters are not tested", r.target)
	}
	return v
}

// hostileNames returns names of fields that are hard on client generators.
func hostileNames() []string {
	return []string{
		"a-b", "a.b", "a b", "a_b", "A", "a", "type", "page", "default", "1st", "class", "func", "-x", "日本",
		"constructor", "get", "Größe(m)", "*/",
		"price", "price[gte]", "_fields", "🌵", `x'y"z`, "`", "$ref", `\`, "a,b", "a&b", "-", "__proto__", "#",
	}
}

// hostileFields returns a CSV file with these fields: numbers in the first one, one of three values
// in the others.
func hostileFields() string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(hostileNames()) // a strings.Builder does not fail
	for n := range 30 {
		row := []string{strconv.Itoa(n)}
		for range hostileNames()[1:] {
			row = append(row, "v"+strconv.Itoa(n%3))
		}
		_ = w.Write(row)
	}
	w.Flush()
	return b.String()
}

// plainRequests returns the request that each call must equal. The parameters of the calls are in
// testdata.
func plainRequests(plant int) map[string]plainRequest {
	query := func(pairs ...string) string {
		v := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			v.Add(pairs[i], pairs[i+1])
		}
		return "?" + v.Encode()
	}
	filters := []string{"category", "climber", "category", "shrub", "price[gte]", "10", "price[lt]", "40"}
	listing := query(append([]string{"page", "2", "per_page", "3", "sort", "price", "order", "desc", "search", "rose*"},
		filters...)...)
	file := query(append([]string{"sort", "price"}, filters...)...)
	counts := query(append([]string{"field", "category", "field", "price", "top", "3", "buckets", "5", "search",
		"rose*"}, filters...)...)

	portable := []string{"a-b", "1", "a-b", "4", "a-b", "7", "a-b[lte]", "20", "a_b", "v1", "a_b", "v2", "price[gte]",
		"v1", "default[empty]", "false"}
	for _, name := range []string{
		"a.b", "a b", "A", "a", "type", "default", "1st", "class", "func", "-x", "日本", "get", "Größe(m)", "*/", "price",
		"price[gte][eq]",
		"page[eq]", "_fields[eq]",
	} {
		portable = append(portable, name, "v1")
	}
	others := []string{`\[prefix]`, "v", "page[eq]", "v1"}
	for _, name := range []string{"🌵", `x'y"z`, "`", "$ref", "a,b", "a&b", "-", "__proto__", "constructor", "#"} {
		others = append(others, name, "v1")
	}
	const catalog, hostile, plants = "/api/v1/garden/catalog", "/api/v1/hostile", "/api/v1/store/plants"
	id := strconv.Itoa(plant)
	return map[string]plainRequest{
		"createPlant":   {literal: map[string]any{"name": "Dog rose", "tag": "shrub"}},
		"listRecords":   {target: catalog + "/data" + listing},
		"exportCSV":     {target: catalog + "/data.csv" + file, format: asText},
		"exportNDJSON":  {target: catalog + "/data.ndjson" + file, format: asText},
		"exportXLSX":    {target: catalog + "/data.xlsx" + file, format: asBase64},
		"exportGeoJSON": {target: hostile + "/a_b/data.geojson?sort=-x_y"},
		"getParquet":    {target: catalog + "/data.parquet", format: asBase64},
		"getRecord":     {literal: map[string]any{"id": id, "name": "Dog rose", "tag": "shrub"}},
		"countValues":   {target: catalog + "/facets" + counts},
		"countInGrid": {
			target: catalog + "/grid?_x=id&_y=price&_bounds=0,0,600,100&_columns=4&_rows=3&" + query(filters...)[1:]},
		"aggregate": {
			target: catalog + "/aggregate?_by=category&_by=date:weekday&_measure=count&_measure=mean:price&_measure=stddev:price&_measure=ratio:price/id&_sort=-count&_top=5&_having=count%5Bgte%5D=2&" + query(filters...)[1:]},
		"aggregateCSV": {target: catalog + "/aggregate.csv?_by=price:10&_fill=zero&_measure=sum:price",
			format: asText},
		"listDatasets":               {target: "/api/v1?page=1&per_page=2"},
		"searchRecords":              {target: "/api/v1/search?search=fern"},
		"describeDataset":            {target: catalog},
		"getOpenAPI":                 {target: "/openapi.json?dataset=garden/catalog"},
		"getDescriptorSchema":        {target: "/schemas/datapackage.json"},
		"getHealth":                  {target: "/healthz"},
		"getReadiness":               {target: "/readyz"},
		"list_garden_catalog":        {target: catalog + "/data" + listing},
		"list_garden_catalog sorted": {target: catalog + "/data?sort=category,-price&per_page=100"},
		"facets_garden_catalog":      {target: catalog + "/facets" + counts},
		"list_hostile_fields":        {target: hostile + "/fields/data" + query(append(portable, "sort", "-x")...)},
		"list_hostile_fields others": {target: hostile + "/fields/data" + query(others...)},
		"facets_hostile_fields": {
			target: hostile + "/fields/facets?field=%F0%9F%8C%B5&field=%23&" +
				query(append(portable, others...)...)[1:],
		},
		"list_hostile_a_b":     {target: hostile + "/a-b/data" + query("x-y", "1")},
		"facets_hostile_a_b":   {target: hostile + "/a-b/facets" + query("field", "x-y")},
		"list_hostile_a_b_2":   {target: hostile + "/a_b/data" + query("x_y", "2")},
		"facets_hostile_a_b_2": {target: hostile + "/a_b/facets" + query("field", "x_y")},
		"publishSource":        {literal: map[string]any{"status": "published", "records": 2.0}},
		"publishForm":          {literal: map[string]any{"status": "published", "records": 3.0}},
		"changeSource":         {literal: map[string]any{"status": "published", "records": 4.0}},
		"getSource": {
			literal: "\"id\",\"name\"\n\"1\",\"Rose\"\n\"2\",\"Fern\"\n\"3\",\"Moss\"\n\"4\",\"Ivy\"\n"},
		"getDescriptor":       {literal: descriptorOf("Plants")},
		"publishDescriptor":   {literal: map[string]any{"status": "published", "records": 4.0}},
		"listVersions":        {literal: versionsOf(4, 4, 3, 2)},
		"listChanges":         {literal: map[string]any{"ops": []any{"added"}, "added": 1.0}},
		"exportChangesNDJSON": {literal: 3.0},
		"exportChangesCSV":    {literal: "id,name,_deleted\r\n4,Ivy,false\r\n"},
		"getReport":           {literal: 2.0},
		"rollbackDataset":     {literal: true},
		"getPublish":          {literal: "live"},
		"labelVersion":        {literal: "2026-Q1"},
		"unlabelVersion":      {literal: "removed"},
		"withdrawVersion":     {literal: "withdrawn"},
		"removeDataset":       {literal: "removed"},
		"list_store_plants":   {target: plants + "/data" + query("id", id)},
		"facets_store_plants": {target: plants + "/facets" + query("id", id, "field", "tag")},
	}
}

// descriptorOf returns the descriptor that clients publish with a title.
func descriptorOf(title string) any {
	return map[string]any{"resources": []any{
		map[string]any{"path": "plants.csv", "title": title, "schema": map[string]any{
			"primaryKey": []any{"id"}, "fields": []any{map[string]any{"name": "id"}, map[string]any{"name": "name"}},
		}}}}
}

// versionsOf returns versions with numbers of records, as clients report them. The first is live.
func versionsOf(records ...float64) (versions []any) {
	for i, n := range records {
		versions = append(versions, map[string]any{"records": n, "live": i == 0})
	}
	return versions
}
