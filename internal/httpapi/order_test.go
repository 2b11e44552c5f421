package httpapi_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/docs/schemas"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
)

// ordered returns a service whose dataset news/items is listed newest first by default.
func ordered(t *testing.T) *service {
	return newService(t, func(o *httpapi.Options) {
		flags := herb.Field{Searchable: true, Filterable: true, Sortable: true}
		day, title := flags, flags
		day.Name, day.Type = "day", herb.TypeDate
		title.Name, title.Type, title.Weight = "title", herb.TypeText, 3
		o.Library.(*fakeLibrary).put(herb.Dataset{
			Ref: herb.Ref{Namespace: "news", Name: "items"}, Version: "v1", Published: published(), Fields: []herb.Field{day, title},
			Details: herb.Details{Order: herb.Order{Field: "day", Desc: true}},
		}, []herb.Record{{"2024-01-02", "rose fern"}, {"2024-01-03", "moss"}, {"", "rose"}, {"2024-01-01", "fern"}, {"2024-01-03", "rose moss fern"}})
	})
}

func TestListing_datasetOrder(t *testing.T) {
	t.Parallel()
	s := ordered(t)
	for _, tt := range []struct{ name, query, want string }{
		{"newest first", "", "moss, rose moss fern, rose fern, fern, rose"},
		{"order alone has no effect", "order=asc", "moss, rose moss fern, rose fern, fern, rose"},
		{"with a filter", "title[ne]=moss", "rose moss fern, rose fern, fern, rose"},
		{"pages", "page=2&per_page=2", "rose fern, fern"},
		{"sorted otherwise", "sort=title", "fern, moss, rose, rose fern, rose moss fern"},
		{"sorted by the same field upwards", "sort=day", "fern, rose fern, moss, rose moss fern, rose"},
		{"best matches first", "search=rose", "rose, rose fern, rose moss fern"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got struct {
				Data []struct{ Title string }
			}
			if err := json.Unmarshal([]byte(ordered(t).get(t, "/api/v1/news/items/data?"+tt.query).body), &got); err != nil {
				t.Fatal(err)
			}
			var titles []string
			for _, r := range got.Data {
				titles = append(titles, r.Title)
			}
			if diff := cmp.Diff(tt.want, strings.Join(titles, ", ")); diff != "" {
				t.Errorf("titles (-want +got):\n%s", diff)
			}
		})
	}
	tag := func(q url.Values) string { return s.get(t, "/api/v1/news/items/data?"+q.Encode()).header.Get("ETag") }
	if tag(nil) == tag(url.Values{"sort": {"day"}}) {
		t.Error("another order has the same entity tag")
	}
}

func TestDescriptorSchema(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	a := s.get(t, "/schemas/datapackage.json")
	if a.status != 200 || a.body != schemas.DataPackage || a.header.Get("Content-Type") != "application/schema+json" {
		t.Errorf("got %d, %s: %.100s", a.status, a.header.Get("Content-Type"), a.body)
	}
	if b := s.get(t, "/schemas/datapackage.json", "If-None-Match: "+a.header.Get("ETag")); b.status != 304 {
		t.Errorf("the same again: %d", b.status)
	}
	if c := s.get(t, "/schemas/other.json"); c.status != 404 {
		t.Errorf("another schema: %d", c.status)
	}
}
