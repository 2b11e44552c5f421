package httpapi_test

import (
	"encoding/json"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

const facetsPath = "/api/v1/garden/catalog/facets"

func TestFacets(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	tests := []struct{ name, target, key, want string }{
		{
			"text", facetsPath + "?field=category&top=2", "",
			`{"data":[{"field":"category","type":"text","total":60,"empty":0,"distinct":3,"values":[{"value":"fern","count":20},{"value":"moss","count":20}]}],` +
				`"meta":{"total":60}}`,
		},
		{
			"numbers", facetsPath + "?field=id&id[lte]=4&top=1&buckets=3", "",
			`{"data":[{"field":"id","type":"number","total":4,"empty":0,"distinct":4,"values":[{"value":"1","count":1}],"min":"1","max":"4","scale":"linear",` +
				`"histogram":[{"from":"0","to":"2","count":1},{"from":"2","to":"4","count":2},{"from":"4","to":"6","count":1}]}],"meta":{"total":4}}`,
		},
		{
			"value search", facetsPath + "?field=category&_values=ER&_offset=0&top=1", "",
			`{"data":[{"field":"category","type":"text","total":60,"empty":0,"distinct":3,"matching":1,"values":[{"value":"fern","count":20}]}],` +
				`"meta":{"total":60}}`,
		},
		{
			"own filter ignored", facetsPath + "?field=category&category=moss&top=1&_offset=2&_own_filter=ignore", "",
			`{"data":[{"field":"category","type":"text","total":60,"empty":0,"distinct":3,"values":[{"value":"tree","count":20}]}],` +
				`"meta":{"total":20}}`,
		},
		{
			"edges of all records, log scale", facetsPath + "?field=id&id[lte]=4&top=0&buckets=7&_edges=all&_scale=log", "",
			`{"data":[{"field":"id","type":"number","total":4,"empty":0,"distinct":4,"values":[],"min":"1","max":"4","scale":"log",` +
				`"histogram":[{"from":"1","to":"2","count":1},{"from":"2","to":"5","count":3},{"from":"5","to":"10","count":0},` +
				`{"from":"10","to":"20","count":0},{"from":"20","to":"50","count":0},{"from":"50","to":"100","count":0}]}],"meta":{"total":4}}`,
		},
		{
			"nothing found", facetsPath + "?field=price&field=tags&category=cactus", "",
			`{"data":[{"field":"price","type":"number","total":0,"empty":0,"distinct":0,"values":[],"min":"","max":"","scale":"linear","histogram":[]},` +
				`{"field":"tags","type":"list","total":0,"empty":0,"distinct":0,"values":[]}],"meta":{"total":0}}`,
		},
		{
			"with a key", "/api/v1/locked/staff/facets?field=name&top=1", reader,
			`{"data":[{"field":"name","type":"text","total":3,"empty":0,"distinct":3,"values":[{"value":"Ana","count":1}]}],"meta":{"total":3}}`,
		},
		{
			"plants", "/api/v1/store/plants/facets?field=tag", "",
			`{"data":[{"field":"tag","type":"text","total":0,"empty":0,"distinct":0,"values":[]}],"meta":{"total":0}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := s.get(t, tt.target, "X-API-Key: "+tt.key)
			if a.status != 200 || a.body != tt.want {
				t.Errorf("got %d %s\nwant %s", a.status, a.body, tt.want)
			}
			if got := a.header.Get("Content-Type"); got != "application/json" {
				t.Errorf("Content-Type is %q", got)
			}
		})
	}
}

func TestFacets_invalid(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	tests := []struct {
		name, target string
		status       int
		message      string // part of the message
	}{
		{"no field", facetsPath, 400, `no "field" is given; name the fields to count the values of, as in field=id; filterable`},
		{"unknown field", facetsPath + "?field=categry", 400, `unknown field "categry"; did you mean "category"?`},
		{"not filterable", "/api/v1/odd/a-b.c/facets?field=quo%22te%3C", 400, "is not filterable"},
		{"page", facetsPath + "?field=id&page=2", 400, `"page" is given`},
		{"sort", facetsPath + "?field=id&sort=id", 400, `"sort" is given`},
		{"too many buckets", facetsPath + "?field=id&buckets=101", 400, "from 2 to 100"},
		{"unknown parameter", facetsPath + "?field=id&bucket=5", 400, `did you mean "buckets"? valid parameters: field, top, _offset, _values, buckets, `},
		{"scale", facetsPath + "?field=id&_scale=square", 400, `_scale is "square"; it must be linear, log or auto`},
		{"edges", facetsPath + "?field=id&_edges=none", 400, `_edges is "none"; it must be matching or all`},
		{"own filter", facetsPath + "?field=id&_own_filter=no", 400, `_own_filter is "no"; it must be apply or ignore`},
		{"offset", facetsPath + "?field=id&_offset=10001", 400, "from 0 to 10000"},
		{"unknown dataset", "/api/v1/garden/nothing/facets?field=id", 404, "no dataset"},
		{"without a key", "/api/v1/locked/staff/facets?field=name", 401, "needs a key"},
		{"with the wrong key", "/api/v1/locked/staff/facets?field=name&api_key=" + writer, 403, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := s.get(t, tt.target)
			if a.status != tt.status || !strings.Contains(a.message(t), tt.message) {
				t.Errorf("got %d %s", a.status, a.body)
			}
		})
	}
	s.library.listErr = herb.Errorf(herb.CodeUnavailable, "away")
	if a := s.get(t, facetsPath+"?field=id"); a.status != 503 {
		t.Errorf("an engine that is away: %d %s", a.status, a.body)
	}
}

func TestFacetsHeaders(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	first := s.get(t, facetsPath+"?field=category&field=id&search=everywhere&top=5")
	tag := first.header.Get("ETag")
	for name, want := range map[string]string{
		"Cache-Control": "public, no-cache", "Vary": "Accept-Encoding", "Access-Control-Allow-Origin": "*",
	} {
		if got := first.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	counted := s.library.listed.Load()
	same := s.get(t, facetsPath+"?field=category&field=id&search=everywhere&top=5", "If-None-Match: "+tag)
	if same.status != 304 || s.library.listed.Load() != counted {
		t.Errorf("the same request gets %d after %d facet queries", same.status, s.library.listed.Load()-counted)
	}
	for _, other := range []string{"field=category&search=everywhere&top=5", "field=category&field=id&search=everywhere&top=6", "field=category&field=id&top=5",
		"field=category&field=id&search=everywhere&top=5&_values=x", "field=category&field=id&search=everywhere&top=5&_edges=all"} {
		if a := s.get(t, facetsPath+"?"+other, "If-None-Match: "+tag); a.status != 200 || a.header.Get("ETag") == tag {
			t.Errorf("%s has the tag of another request", other)
		}
	}
	head := s.do(t, request("HEAD", facetsPath+"?field=id", ""))
	if head.status != 200 || head.body != "" {
		t.Errorf("HEAD: %d %q", head.status, head.body)
	}
	locked := s.get(t, "/api/v1/locked/staff/facets?field=name", "X-API-Key: "+reader)
	if got := locked.header.Get("Cache-Control"); got != "private, no-cache" {
		t.Errorf("Cache-Control of a locked dataset is %q", got)
	}
	packed := s.get(t, facetsPath+"?field=id&top=100&buckets=100", "Accept-Encoding: gzip")
	if got := packed.header.Get("Content-Encoding"); got != "gzip" {
		t.Errorf("Content-Encoding is %q", got)
	}
}

// TestFacetsExample checks the example in docs/api.md.
func TestFacetsExample(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(doc), "## Count values")
	m := regexp.MustCompile("(?s)GET (/api/v1/\\S+)\n.*?```json\n(.*?)```").FindStringSubmatch(section)
	if m == nil {
		t.Fatal("docs/api.md has no example of facets")
	}
	s := newService(t, nil)
	fields := []herb.Field{
		{Name: "category", Type: herb.TypeText, Filterable: true}, {Name: "price", Type: herb.TypeNumber, Filterable: true},
	}
	s.library.put(herb.Dataset{Ref: herb.Ref{Namespace: "garden", Name: "shop"}, Fields: fields, Version: "1"}, []herb.Record{
		{"tree", "25.00"}, {"fern", "4.50"}, {"tree", "8.99"}, {"", "12"}, {"tree", "25"}, {"fern", ""},
	})
	a := s.get(t, m[1])
	var got, want any
	if err := json.Unmarshal([]byte(m[2]), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the example (-docs +got):\n%s\n%s", diff, a.body)
	}
}

// TestFacetsLinkToListings checks that filtering by a bucket or value returns as many records as its count.
func TestFacetsLinkToListings(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	var body struct {
		Data []struct {
			Field     string
			Values    []query.ValueCount
			Histogram []query.Bucket
		}
	}
	a := s.get(t, facetsPath+"?field=price&field=date&field=category&field=tags&buckets=5")
	if err := json.Unmarshal([]byte(a.body), &body); err != nil {
		t.Fatal(err)
	}
	compared := 0
	total := func(q string, want int) {
		compared++
		if _, meta := s.get(t, "/api/v1/garden/catalog/data?"+q).listing(t); meta.Total != want {
			t.Errorf("%s finds %d records, not %d", q, meta.Total, want)
		}
	}
	for _, f := range body.Data {
		for _, v := range f.Values {
			total(url.QueryEscape(f.Field)+"="+url.QueryEscape(v.Value), v.Count)
		}
		for _, b := range f.Histogram {
			total(f.Field+"[gte]="+b.From+"&"+f.Field+"[lt]="+b.To, b.Count)
		}
	}
	if compared < 15 {
		t.Errorf("only %d were compared: %s", compared, a.body)
	}
}
