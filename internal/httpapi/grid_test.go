package httpapi_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
)

// putPlaces adds a dataset of places.
func putPlaces(s *service) {
	fields := []herb.Field{
		{Name: "name", Type: herb.TypeText, Filterable: true, Searchable: true},
		{Name: "longitude", Type: herb.TypeNumber, Filterable: true}, {Name: "latitude", Type: herb.TypeNumber, Filterable: true},
		{Name: "secret", Type: herb.TypeNumber},
	}
	s.library.put(herb.Dataset{Ref: herb.Ref{Namespace: "geo", Name: "places"}, Fields: fields, Version: "1"}, []herb.Record{
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
			`{"data":[[1,0,1],[2,1,3],[3,1,1]],"meta":{"total":6,"inside":5,"columns":4,"rows":2,"bounds":[-180,-90,180,90]}}`},
		{"filter", "&_bounds=-180,-90,180,90&_columns=4&_rows=2&name[in]=Wien,Quito&search=wien",
			`{"data":[[2,1,1]],"meta":{"total":1,"inside":1,"columns":4,"rows":2,"bounds":[-180,-90,180,90]}}`},
		{"part", "&_bounds=2.35,48.21,13.40,52.52&_columns=1&_rows=1",
			`{"data":[[0,0,2]],"meta":{"total":6,"inside":2,"columns":1,"rows":1,"bounds":[2.35,48.21,13.4,52.52]}}`},
		{"nothing", "&_bounds=0,0,1,1", `{"data":[],"meta":{"total":6,"inside":0,"columns":256,"rows":128,"bounds":[0,0,1,1]}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if a := s.get(t, gridPath+tt.query); a.status != 200 || a.body != tt.want {
				t.Errorf("got %d %s\nwant %s", a.status, a.body, tt.want)
			}
		})
	}
}

func TestGrid_headers(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	putPlaces(s)
	const raw = "&_bounds=-180,-90,180,90"
	first := s.get(t, gridPath+raw)
	tag, counted := first.header.Get("ETag"), s.library.listed.Load()
	for name, want := range map[string]string{
		"Cache-Control": "public, no-cache", "Vary": "Accept-Encoding", "Access-Control-Allow-Origin": "*",
	} {
		if got := first.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
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
	for _, tt := range []struct {
		target, message string
	}{
		{"/api/v1/geo/places/grid", `"_x" and "_y" name the fields of the axes, as in _x=longitude&_y=latitude; give both; number fields: latitude, longitude`},
		{"/api/v1/geo/places/grid?_x=longitud&_y=latitude", `unknown field "longitud" in "_x"; did you mean "longitude"? number fields: latitude, longitude`},
		{"/api/v1/geo/places/grid?_x=name&_y=latitude", `field "name" in "_x" is not a filterable number field; number fields: latitude, longitude`},
		{"/api/v1/geo/places/grid?_x=longitude&_y=secret", `field "secret" in "_y" is not a filterable number field; number fields: latitude, longitude`},
		{gridPath, `no "_bounds" is given; give the bounds of the grid as min x,min y,max x,max y, as in _bounds=-180,-90,180,90`},
		{gridPath + "&_bounds=1,2,3", `_bounds is "1,2,3"; it must be four numbers min x,min y,max x,max y with each minimum less than the maximum, as in -180,-90,180,90`},
		{gridPath + "&_bounds=1,2,1,3", `_bounds is "1,2,1,3"; it must be four numbers`},
		{gridPath + "&_bounds=1,2,NaN,3", `_bounds is "1,2,NaN,3"; it must be four numbers`},
		{gridPath + "&_bounds=0,0,1,1" + strings.Repeat("0", 400), `it must be four numbers`},
		{gridPath + "&_bounds=0,0,1,1&_rows=0", `_rows is "0"; it must be a whole number from 1 to 1024`},
		{gridPath + "&_bounds=0,0,1,1&_columns=1025", `_columns is "1025"; it must be a whole number from 1 to 1024`},
		{gridPath + "&_bounds=0,0,1,1&_columns=1024", "the grid has 1024 × 128 cells; at most 65536 are allowed"},
		{gridPath + "&_bounds=0,0,1,1&_x=latitude", `"_x" is given more than once; give it once`},
		{gridPath + "&_bounds=0,0,1,1&page=2", `"page" is given, but grids count all records`},
		{gridPath + "&_bounds=0,0,1,1&nam=x", `unknown parameter "nam"; did you mean "name"? valid parameters: _x, _y, _bounds, _columns, _rows, search, api_key, _filter, _version; filterable fields`},
	} {
		if a := s.get(t, tt.target); a.status != 400 || !strings.Contains(a.message(t), tt.message) {
			t.Errorf("%s: got %d %s\nwant %s", tt.target, a.status, a.body, tt.message)
		}
	}
	if a := s.get(t, "/api/v1/locked/staff/grid?_x=a"); a.status != 401 {
		t.Errorf("without a key: %d", a.status)
	}
	s.library.listErr = herb.Errorf(herb.CodeUnavailable, "away")
	if a := s.get(t, gridPath+"&_bounds=0,0,1,1"); a.status != 503 {
		t.Errorf("an engine that is away: %d %s", a.status, a.body)
	}
}

// TestGridExample checks the example in docs/api.md, and that filtering by a cell returns as many records as its count.
func TestGridExample(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(doc), "## Count records in a grid")
	m := regexp.MustCompile("(?s)GET (/api/v1/\\S+)\n.*?```json\n(.*?)```").FindStringSubmatch(section)
	if m == nil {
		t.Fatal("docs/api.md has no example of a grid")
	}
	s := newService(t, nil)
	putPlaces(s)
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
	var grid struct {
		Data [][3]int
		Meta struct{ Columns, Rows float64 }
	}
	if err := json.Unmarshal([]byte(a.body), &grid); err != nil || len(grid.Data) == 0 {
		t.Fatalf("%v %s", err, a.body)
	}
	for _, c := range grid.Data {
		x, y, width, height := -180+float64(c[0])*360/grid.Meta.Columns, -90+float64(c[1])*180/grid.Meta.Rows, 360/grid.Meta.Columns, 180/grid.Meta.Rows
		target := fmt.Sprintf("/api/v1/geo/places/data?longitude[gte]=%v&longitude[lte]=%v&latitude[gte]=%v&latitude[lte]=%v", x, x+width, y, y+height)
		if _, meta := s.get(t, target).listing(t); meta.Total != c[2] {
			t.Errorf("%s finds %d records, not %d", target, meta.Total, c[2])
		}
	}
}
