package httpapi_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/response"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// indexCatalog gives the catalog of a service an index, in which typos of words are found.
func indexCatalog(t *testing.T, s *service) {
	t.Helper()
	d, records := catalog()
	r, err := segment.InMemory(t.Context(), d.Fields, records)
	must.NoError(t, err)
	s.library.View(d.Ref).Reader = r
}

// TestSuggestions checks the suggestions of listings, aggregates and tools, whose requests return
// what they promise, and that other responses have none.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	indexCatalog(t, s)
	for params, want := range map[string][]query.Suggestion{
		"search=everwhere&per_page=2&page=3&_fields=id": {{Corrections: map[string]string{"everwhere": "everywhere"},
			Total: 60, URL: "search=everywhere&per_page=2&_fields=id"}},
		"status=Published&category=FERN": {{Corrections: map[string]string{"Published": "published", "FERN": "fern"},
			Total: 20, URL: "status=published&category=fern"}},
		"status=Published&id=99": {{Corrections: map[string]string{"Published": "published"}, Total: 60,
			URL: "status=published"}},
		"category[in]=Tree&_version=v1": {{Corrections: map[string]string{"Tree": "tree"}, Total: 20,
			URL: "category[in]=tree&_version=v1"}},
		"_filter=category=ferm&_typed=true": {{Corrections: map[string]string{"ferm": "fern"}, Total: 20,
			URL: "_filter=category=fern&_typed=true"}},
		"search=qqqqqqqq": nil, "category=fern": nil, "category=fern&page=9": nil, "id=99": nil,
	} {
		for _, path := range []string{"/api/v1/garden/catalog/data", "/api/v1/garden/catalog/aggregate"} {
			params, isAggregate := params, strings.HasSuffix(path, "aggregate")
			if isAggregate {
				if strings.Contains(params, "page") {
					continue
				}
				params += "&_measure=sum:price"
			}
			a := s.get(t, path+"?"+params)
			var got struct {
				Meta struct{ Suggestions []query.Suggestion }
			}
			must.NoError(t, json.Unmarshal([]byte(a.body), &got))
			if strings.Contains(a.body, "suggestions") == (want == nil) {
				t.Errorf("%s: %s", params, a.body)
			}
			for i, suggestion := range got.Meta.Suggestions {
				again := s.get(t, suggestion.URL)
				var meta struct{ Meta struct{ Total int } }
				must.NoError(t, json.Unmarshal([]byte(again.body), &meta))
				if meta.Meta.Total != suggestion.Total || again.status != 200 {
					t.Errorf("%s: %s returns %d, %s", params, suggestion.URL, again.status, again.body)
				}
				u, err := url.PathUnescape(strings.TrimSuffix(strings.TrimPrefix(suggestion.URL, path+"?"),
					"&_measure=sum%3Aprice"))
				must.NoError(t, err)
				got.Meta.Suggestions[i].URL = u
			}
			if diff := cmp.Diff(want, got.Meta.Suggestions); diff != "" {
				t.Errorf("%s?%s (-want +got):\n%s", path, params, diff)
			}
		}
	}
	if a := s.get(t, "/api/v1/garden/catalog/data?status=Published&sort=id&api_key="+reader); strings.Contains(a.body, "herb_") ||
		!strings.HasSuffix(a.body, `"has_prev":false,"suggestions":[{"corrections":{"Published":"published"},"total":60,`+
			`"url":"/api/v1/garden/catalog/data?status=published&sort=id"}]}}`) {
		t.Errorf("got %s", a.body)
	}
	s.create(t, `{"id":1,"name":"Rose"}`)
	if a := s.get(t, "/api/v1/store/plants/data?name=rose"); strings.Contains(a.body, "suggestions") {
		t.Errorf("the plants have %s", a.body)
	}
	if a := s.get(t, "/api/v1/garden/catalog/data/ferm"); strings.Contains(a.body, "did you mean") {
		t.Errorf("got %s", a.body)
	}
}

// TestSuggestions_tags checks that a response with suggestions has an entity tag of its own, which
// is valid as long as the version is live, and that the tags of other responses are those of their
// request.
func TestSuggestions_tags(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	for _, path := range []string{"/api/v1/garden/catalog/data?", "/api/v1/garden/catalog/aggregate?"} {
		suggesting, plain := path+"category=ferm", path+"category=qqqqqqq"
		first := s.get(t, suggesting)
		tag := first.header.Get("ETag")
		listed := s.library.listed.Load()
		if a := s.get(t, suggesting, "If-None-Match: "+tag); a.status != 304 || a.header.Get("ETag") != tag ||
			s.library.listed.Load() != listed {
			t.Errorf("%s: %d, %s, %d listings", suggesting, a.status, a.header.Get("ETag"),
				s.library.listed.Load()-listed)
		}
		if a := s.get(t, suggesting, `If-None-Match: "other"`); a.status != 200 || a.header.Get("ETag") != tag ||
			a.body != first.body {
			t.Errorf("%s: %d, %s", suggesting, a.status, a.header.Get("ETag"))
		}
		tagOf := func(params string) string {
			return response.EntityTag(strings.TrimSuffix(path, "?"), params, "v1", response.ContentJSON)
		}
		if tag == tagOf("category=ferm") {
			t.Errorf("the tag of %s is that of a response without suggestions", suggesting)
		}
		without := s.get(t, plain).header.Get("ETag")
		if a := s.get(t, plain, "If-None-Match: "+without); a.status != 304 || without != tagOf("category=qqqqqqq") {
			t.Errorf("%s: %d, %s", plain, a.status, without)
		}
		d, records := catalog()
		d.Version = "v2"
		s.library.put(d, records[:1]) // has no ferns
		if a := s.get(t, suggesting, "If-None-Match: "+tag); a.status != 200 ||
			strings.Contains(a.body, "suggestions") || a.header.Get("ETag") == tag {
			t.Errorf("%s of another version: %d, %s", suggesting, a.status, a.body)
		}
		d.Version = "v1"
		s.library.put(d, records)
	}
}

// TestSuggestions_tools checks the notes of tools, and the structured content.
func TestSuggestions_tools(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	indexCatalog(t, s)
	for _, tt := range []struct {
		tool      string
		arguments args
		note      string
	}{
		{"query_records", args{"dataset": "garden/catalog", "filters": "status=Published", "fields": "id", "page": 2},
			`did you mean "published" instead of "Published"? 60 records: http://example.com/api/v1/garden/catalog/data?` +
				`_filter=status=published&_fields=id&per_page=50&_version=v1`},
		{"query_records", args{"dataset": "garden/catalog", "search": "everwhere", "filters": "id=99", "fields": "id"},
			`did you mean "everywhere" instead of "everwhere" without other conditions? 60 records: ` +
				`http://example.com/api/v1/garden/catalog/data?search=everywhere&_fields=id&per_page=50&_version=v1`},
		{"aggregate", args{"dataset": "garden/catalog", "filters": "category=Ferm", "measures": "sum:price"},
			`did you mean "fern" instead of "Ferm"? 20 records: http://example.com/api/v1/garden/catalog/aggregate.csv?` +
				`_measure=sum:price&_filter=category=fern&_top=100&_version=v1`},
		{"query_records", args{"dataset": "garden/catalog", "filters": "id=99", "fields": "id"}, ""},
	} {
		r := s.callTool(t, tt.tool, tt.arguments)
		_, rest := r.text()
		note, _, _ := strings.Cut(rest, "\n")
		if note != tt.note && (tt.note != "" || strings.Contains(rest, "did you mean")) {
			t.Errorf("%s %v:\n%s; want\n%s", tt.tool, tt.arguments, rest, tt.note)
		}
		suggestions := r.StructuredContent.Suggestions
		if (len(suggestions) == 1) != (tt.note != "") {
			t.Errorf("%s %v: %v", tt.tool, tt.arguments, suggestions)
		}
		for _, suggestion := range suggestions {
			u, err := url.Parse(suggestion.URL)
			must.NoError(t, err)
			if a := s.get(t, u.RequestURI()); a.status != 200 || !strings.HasSuffix(tt.note, suggestion.URL) {
				t.Errorf("%s returns %d", suggestion.URL, a.status)
			}
		}
	}
}

// TestMCP_areas checks where records are, and groups by their measures.
func TestMCP_areas(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	fields := []herb.Field{
		{Name: "name", Type: herb.TypeText, Filterable: true, Sortable: true},
		{Name: "latitude", Type: herb.TypeNumber, Filterable: true},
		{Name: "longitude", Type: herb.TypeNumber, Filterable: true},
	}
	s.library.put(herb.Dataset{Ref: herb.Ref{Namespace: "geo", Name: "places"}, Fields: fields}, []herb.Record{
		{"Bern", "46.95", "7.44"}, {"Zurich", "47.37", "8.54"}, {"Oslo", "59.91", "10.75"}, {"Oslo", "59.92", "10.76"},
	})
	for _, tt := range []struct {
		tool      string
		arguments args
		want      string
	}{
		{"query_records", args{"near": "47.37,8.54,200000", "sort": "_distance", "fields": "name"},
			"name\nZurich\nBern\n"},
		{"query_records", args{"bbox": "7,46,8,47", "fields": "name"}, "name\nBern\n"},
		{"aggregate", args{"bbox": "5,45,9,48"}, "count\n2\n"},
		{"aggregate", args{"near": "59.9,10.7,20000", "by": "name"}, "name,count\nOslo,2\n"},
		{"aggregate", args{"by": "name", "having": []string{"count[gte]=2", "max:latitude[gt]=59"}},
			"name,count\nOslo,2\n"},
		{"aggregate", args{"measures": []string{"p0:latitude", "p25:latitude", "p100:latitude"}},
			"p0:latitude,p25:latitude,p100:latitude\n46.95,46.95,59.92\n"},
	} {
		tt.arguments["dataset"] = "geo/places"
		if _, rest := s.callTool(t, tt.tool, tt.arguments).text(); rest != tt.want {
			t.Errorf("%s %v: %s", tt.tool, tt.arguments, rest)
		}
	}
}
