package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

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
			"edges of all records, log scale", facetsPath + "?field=id&id[lte]=4&top=0&buckets=7&_edges=all&_scale=log",
			"",
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
	s.checkRejections(t, []rejection{
		{"no field", facetsPath, 400,
			`no "field" is given; name each field to count the values of, as in field=<name>; filterable`},
		{"unknown field", facetsPath + "?field=categry", 400, `unknown field "categry"; did you mean "category"?`},
		{"not filterable", "/api/v1/odd/a-b.c/facets?field=quo%22te%3C", 400, "is not filterable"},
		{"page", facetsPath + "?field=id&page=2", 400, `"page" is given`},
		{"sort", facetsPath + "?field=id&sort=id", 400, `"sort" is given`},
		{"too many buckets", facetsPath + "?field=id&buckets=101", 400, "from 2 to 100"},
		{"unknown parameter", facetsPath + "?field=id&bucket=5", 400,
			`did you mean "buckets"? valid parameters: field, top, _offset, _values, buckets, `},
		{"scale", facetsPath + "?field=id&_scale=square", 400, `_scale is "square"; it must be linear, log or auto`},
		{"edges", facetsPath + "?field=id&_edges=none", 400, `_edges is "none"; it must be matching or all`},
		{"own filter", facetsPath + "?field=id&_own_filter=no", 400, `_own_filter is "no"; it must be apply or ignore`},
		{"offset", facetsPath + "?field=id&_offset=10001", 400, "from 0 to 10000"},
		{"unknown dataset", "/api/v1/garden/nothing/facets?field=id", 404, "no such dataset"},
		{"without a key", "/api/v1/locked/staff/facets?field=name", 401, "requires a key"},
		{"with the wrong key", "/api/v1/locked/staff/facets?field=name&api_key=" + writer, 403, ""},
	})
	s.checkUnavailable(t, facetsPath+"?field=id")
}

func TestFacetsHeaders(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	first := s.get(t, facetsPath+"?field=category&field=id&search=everywhere&top=5")
	tag := first.header.Get("ETag")
	first.checkHeaders(t, "Cache-Control: public, no-cache", "Vary: Accept-Encoding", "Access-Control-Allow-Origin: *")
	counted := s.library.listed.Load()
	same := s.get(t, facetsPath+"?field=category&field=id&search=everywhere&top=5", "If-None-Match: "+tag)
	if same.status != 304 || s.library.listed.Load() != counted {
		t.Errorf("the same request gets %d after %d facet queries", same.status, s.library.listed.Load()-counted)
	}
	for _, other := range []string{"field=category&search=everywhere&top=5",
		"field=category&field=id&search=everywhere&top=6", "field=category&field=id&top=5",
		"field=category&field=id&search=everywhere&top=5&_values=x",
		"field=category&field=id&search=everywhere&top=5&_edges=all"} {
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
	s := newService(t, nil)
	fields := []herb.Field{
		{Name: "category", Type: herb.TypeText, Filterable: true},
		{Name: "price", Type: herb.TypeNumber, Filterable: true},
	}
	s.library.put(herb.Dataset{Ref: herb.Ref{Namespace: "garden", Name: "shop"}, Fields: fields, Version: "1"},
		[]herb.Record{
			{"tree", "25.00"}, {"fern", "4.50"}, {"tree", "8.99"}, {"", "12"}, {"tree", "25"}, {"fern", ""},
		})
	s.checkExample(t, "Count values")
}

// TestFacetsLinkToListings checks that filtering by a bucket or value returns as many records as
// its count.
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

// putPlaces adds a dataset of places.
func putPlaces(s *service) {
	fields := []herb.Field{
		{Name: "name", Type: herb.TypeText, Filterable: true, Searchable: true},
		{Name: "longitude", Type: herb.TypeNumber, Filterable: true},
		{Name: "latitude", Type: herb.TypeNumber, Filterable: true},
		{Name: "secret", Type: herb.TypeNumber},
	}
	s.library.put(herb.Dataset{Ref: herb.Ref{Namespace: "geo", Name: "places"}, Fields: fields, Version: "1"},
		[]herb.Record{
			{"Berlin", "13.40", "52.52", "1"}, {"Wien", "16.37", "48.21", "1"}, {"Paris", "2.35", "48.86", "1"},
			{"Quito", "-78.51", "-0.22", "1"}, {"Nowhere", "", "10", "1"}, {"Pole", "180", "90", "1"},
		})
}

const gridPath = "/api/v1/geo/places/grid?_x=longitude&_y=latitude"

func TestGrid(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	putPlaces(s)
	for _, tt := range []struct{ name, query, want string }{
		{"world", "&_bounds=-180,-90,180,90&_columns=4&_rows=2",
			`{"data":[[1,0,1],[2,1,3],[3,1,1]],"meta":{"total":6,"inside":5,"columns":4,"rows":2,"bounds":[-180,-90,180,90],"levels":[1,2,2,2,3]}}`},
		{"filter", "&_bounds=-180,-90,180,90&_columns=4&_rows=2&name[in]=Wien,Quito&search=wien",
			`{"data":[[2,1,1]],"meta":{"total":1,"inside":1,"columns":4,"rows":2,"bounds":[-180,-90,180,90],"levels":[1]}}`},
		{"part", "&_bounds=2.35,48.21,13.40,52.52&_columns=1&_rows=1",
			`{"data":[[0,0,2]],"meta":{"total":6,"inside":2,"columns":1,"rows":1,"bounds":[2.35,48.21,13.4,52.52],"levels":[1,2,2,2,2]}}`},
		{"nothing", "&_bounds=0,0,1,1",
			`{"data":[],"meta":{"total":6,"inside":0,"columns":256,"rows":128,"bounds":[0,0,1,1],"levels":[1]}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if a := s.get(t, gridPath+tt.query); a.status != 200 || a.body != tt.want {
				t.Errorf("got %d %s\nwant %s", a.status, a.body, tt.want)
			}
		})
	}
}

// TestGrid_positions counts positions without naming fields of axes, as the document allows.
func TestGrid_positions(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	putPlaces(s)
	if a := s.get(t, "/api/v1/geo/places/grid?_bounds=-180,-90,180,90&_columns=4&_rows=2"); a.status != 200 ||
		!strings.HasPrefix(a.body, `{"data":[[1,0,1],[0,1,1],[2,1,3]],`) {
		t.Errorf("got %d %s", a.status, a.body)
	}
}

func TestGrid_headers(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	putPlaces(s)
	const raw = "&_bounds=-180,-90,180,90"
	first := s.get(t, gridPath+raw)
	tag, counted := first.header.Get("ETag"), s.library.listed.Load()
	first.checkHeaders(t, "Cache-Control: public, no-cache", "Vary: Accept-Encoding", "Access-Control-Allow-Origin: *")
	if a := s.get(t, gridPath+raw, "If-None-Match: "+tag); a.status != 304 || s.library.listed.Load() != counted {
		t.Errorf("the same request gets %d", a.status)
	}
	for _, other := range []string{raw + "&_rows=1", raw + "&_columns=1", "&_bounds=-180,-90,180,91", raw + "&name=x"} {
		if a := s.get(t, gridPath+other, "If-None-Match: "+tag); a.status != 200 || a.header.Get("ETag") == tag {
			t.Errorf("%s has the tag of another request", other)
		}
	}
}

func TestGrid_invalid(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	putPlaces(s)
	s.checkRejections(t, []rejection{
		{"", "/api/v1/geo/places/grid?_x=latitude", 400,
			`"_x" and "_y" name the fields of the axes, as in _x=longitude&_y=latitude; give both, or none for the positions of records; number fields: latitude, longitude`},
		{"", "/api/v1/geo/places/grid?_x=longitud&_y=latitude", 400,
			`unknown field "longitud" in "_x"; did you mean "longitude"? number fields: latitude, longitude`},
		{"", "/api/v1/geo/places/grid?_x=name&_y=latitude", 400,
			`field "name" in "_x" is not a filterable number field; number fields: latitude, longitude`},
		{"", "/api/v1/geo/places/grid?_x=longitude&_y=secret", 400,
			`field "secret" in "_y" is not a filterable number field; number fields: latitude, longitude`},
		{"", gridPath, 400, `no "_bounds" is given; give the bounds of the grid as min x,min y,max x,max y, as in _bounds=-180,-90,180,90`},
		{"", gridPath + "&_bounds=1,2,3", 400,
			`_bounds is "1,2,3"; it must be four numbers min x,min y,max x,max y with each minimum less than the maximum, as in -180,-90,180,90`},
		{"", gridPath + "&_bounds=1,2,1,3", 400, `_bounds is "1,2,1,3"; it must be four numbers`},
		{"", gridPath + "&_bounds=1,2,NaN,3", 400, `_bounds is "1,2,NaN,3"; it must be four numbers`},
		{"", gridPath + "&_bounds=0,0,1,1" + strings.Repeat("0", 400), 400, `it must be four numbers`},
		{"", gridPath + "&_bounds=0,0,1,1&_rows=0", 400, `_rows is "0"; it must be a whole number from 1 to 1024`},
		{"", gridPath + "&_bounds=0,0,1,1&_columns=1025", 400,
			`_columns is "1025"; it must be a whole number from 1 to 1024`},
		{"", gridPath + "&_bounds=0,0,1,1&_columns=1024", 400,
			"the grid has 1024 × 128 cells; at most 65536 are allowed"},
		{"", gridPath + "&_bounds=0,0,1,1&_x=latitude", 400, `"_x" is given more than once; give it once`},
		{"", gridPath + "&_bounds=0,0,1,1&page=2", 400, `"page" is given, but grids count all records`},
		{"", gridPath + "&_bounds=0,0,1,1&nam=x", 400,
			`unknown parameter "nam"; did you mean "name"? valid parameters: _x, _y, _bounds, _columns, _rows, search, _words, _bbox, _near, _coordinates, api_key, _filter, _any, _zone, _version; filterable fields`},
		{"without a key", "/api/v1/locked/staff/grid?_x=a", 401, ""},
	})
	s.checkUnavailable(t, gridPath+"&_bounds=0,0,1,1")
}

// TestGridExample checks the example in docs/api.md, and that filtering by a cell returns as many
// records as its count.
func TestGridExample(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	putPlaces(s)
	a := s.checkExample(t, "Count records in a grid")
	var grid struct {
		Data [][3]int
		Meta struct{ Columns, Rows float64 }
	}
	if err := json.Unmarshal([]byte(a.body), &grid); err != nil || len(grid.Data) == 0 {
		t.Fatalf("%v %s", err, a.body)
	}
	for _, c := range grid.Data {
		x, y, width, height := -180+float64(c[0])*360/grid.Meta.Columns, -90+float64(c[1])*180/grid.Meta.Rows,
			360/grid.Meta.Columns, 180/grid.Meta.Rows
		target := fmt.Sprintf("/api/v1/geo/places/data?longitude[gte]=%v&longitude[lte]=%v&latitude[gte]=%v&latitude[lte]=%v", x, x+width, y, y+height)
		if _, meta := s.get(t, target).listing(t); meta.Total != c[2] {
			t.Errorf("%s finds %d records, not %d", target, meta.Total, c[2])
		}
	}
}
