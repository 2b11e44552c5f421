package httpapi_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/testseed"
)

// stations returns a dataset with two pairs of coordinates, at poles, at the antimeridian and
// nowhere, and a key of two fields.
func stations(random *rand.Rand) (herb.Dataset, []herb.Record) {
	field := func(name string, t herb.Type) herb.Field {
		return herb.Field{Name: name, Type: t, Filterable: true, Sortable: true, Searchable: t == herb.TypeText}
	}
	d := herb.Dataset{Ref: herb.Ref{Namespace: "geo", Name: "stations"}, Version: "v1", Fields: []herb.Field{
		field("line", herb.TypeText), field("n", herb.TypeNumber), field("start_lat", herb.TypeNumber),
		field("start_lon", herb.TypeNumber),
		field("end_lat", herb.TypeNumber), field("end_lon", herb.TypeNumber), field("open", herb.TypeBoolean),
	}}
	d.PrimaryKey = []string{"line", "n"}
	pick := func(values ...string) string { return values[random.IntN(len(values))] }
	latitude := func() string {
		return pick("90", "-90", "", "0.0", "52.520", "-17.75", strconv.Itoa(random.IntN(180)-90))
	}
	longitude := func() string {
		return pick("180", "-180", "", "179.9999", "-179.5", "13.40", "200.5", "360",
			strconv.Itoa(random.IntN(360)-180))
	}
	var records []herb.Record
	for i := range 300 {
		records = append(records, herb.Record{pick("a/b", "ü \"x\"", "c"), strconv.Itoa(i), latitude(), longitude(),
			latitude(), longitude(), pick("yes", "no", "")})
	}
	records[7][2], records[7][3] = "91", "0" // one of a hundred may be wrong
	return d, records
}

// feature is a feature as this test reads it.
type feature struct {
	Type       string            `json:"type"`
	ID         any               `json:"id"`
	Geometry   *geometry         `json:"geometry"`
	Properties map[string]string `json:"properties"`
}

type geometry struct {
	Type        string          `json:"type"`
	Coordinates json.RawMessage `json:"coordinates"`
	Geometries  []geometry      `json:"geometries"`
}

// check returns what RFC 7946 forbids in a geometry. It shares no code with the program.
func (g *geometry) check() error {
	depth, isKnown := map[string]int{"Point": 0, "LineString": 1, "MultiPoint": 1, "Polygon": 2, "MultiLineString": 2,
		"MultiPolygon": 3}[g.Type]
	if g.Type == "GeometryCollection" {
		for _, inner := range g.Geometries {
			if err := inner.check(); err != nil {
				return err
			}
		}
		return nil
	}
	if !isKnown {
		return fmt.Errorf("a geometry of type %q", g.Type)
	}
	lists, err := positions(g.Coordinates, depth)
	for _, list := range lists {
		isRing := strings.HasSuffix(g.Type, "Polygon")
		if isRing && (len(list) < 4 || !slices.Equal(list[0], list[len(list)-1])) ||
			strings.HasSuffix(g.Type, "LineString") && len(list) < 2 {
			return fmt.Errorf("%s has the list %v", g.Type, list)
		}
	}
	return err
}

// positions returns the lists of positions in nested arrays.
func positions(raw json.RawMessage, depth int) (lists [][][]float64, err error) {
	if depth > 1 {
		var inner []json.RawMessage
		if err := json.Unmarshal(raw, &inner); err != nil || len(inner) == 0 {
			return nil, fmt.Errorf("no arrays in %s: %w", raw, err)
		}
		for _, one := range inner {
			more, err := positions(one, depth-1)
			if err != nil {
				return nil, err
			}
			lists = append(lists, more...)
		}
		return lists, nil
	}
	list := make([][]float64, 1)
	if depth == 0 {
		err = json.Unmarshal(raw, &list[0])
	} else {
		err = json.Unmarshal(raw, &list)
	}
	for _, p := range list {
		if len(p) < 2 || len(p) > 3 || p[0] < -180 || p[0] > 180 || p[1] < -90 || p[1] > 90 {
			return nil, fmt.Errorf("the position %v", p)
		}
	}
	return [][][]float64{list}, err
}

// features returns the features of a file, which must be valid.
func (a checkedResponse) features(t *testing.T) []feature {
	t.Helper()
	var members map[string]json.RawMessage
	var all []feature
	err := json.Unmarshal([]byte(a.body), &members)
	if err == nil {
		err = json.Unmarshal(members["features"], &all)
	}
	if err != nil || len(members) != 2 || string(members["type"]) != `"FeatureCollection"` || a.status != 200 {
		t.Fatalf("%d, %v: %.500s", a.status, err, a.body)
	}
	for _, f := range all {
		if f.Geometry != nil {
			err = f.Geometry.check()
		}
		if f.Type != "Feature" || err != nil {
			t.Fatalf("%+v: %v", f, err)
		}
	}
	return all
}

// TestGeoJSON_listing compares the features with the records of the listing with the same random
// parameters.
func TestGeoJSON_listing(t *testing.T) {
	t.Parallel()
	s, random := newService(t, nil), rand.New(rand.NewPCG(testseed.Seed(t), 0))
	s.library.put(stations(random))
	choices := [][]string{
		{"line=c", "line=a/b&line=c", "n[lt]=100", "start_lat[empty]=true", "search=x", "open=no", "n[gt]=99999"},
		{"_bbox=170,-90,-170,90", "_near=90,0,5000000", "_bbox=0,0,180,90&_coordinates=end_lat",
			"_coordinates=end_lat", ""},
		{"sort=-n", "sort=line,-start_lon", ""}, {"_fields=n,line", "_fields=line", "_fields=start_lon,start_lat", ""},
	}
	const path = "/api/v1/geo/stations/data"
	for range 40 {
		var parts []string
		for _, c := range choices {
			if part := c[random.IntN(len(c))]; part != "" {
				parts = append(parts, part)
			}
		}
		q := strings.Join(parts, "&")
		if strings.Contains(q, "_near") && random.IntN(2) == 0 && !strings.Contains(q, "sort") {
			q += "&sort=_distance"
		}
		got := s.get(t, path+".geojson?"+q)
		found := got.features(t)
		data, meta := s.get(t, path+"?per_page=100&"+q).listing(t)
		if len(found) != meta.Total || got.header.Get("X-Total-Count") != strconv.Itoa(meta.Total) {
			t.Fatalf("%s: %d features, %s, want %d", q, len(found), got.header.Get("X-Total-Count"), meta.Total)
		}
		var properties []map[string]string
		for _, f := range found[:len(data)] {
			properties = append(properties, f.Properties)
		}
		if diff := cmp.Diff(data, properties,
			cmp.Transformer("empty", func(m []map[string]string) []map[string]string {
				return append([]map[string]string{}, m...)
			})); diff != "" {
			t.Fatalf("%s (-listing +features):\n%s", q, diff)
		}
	}
	for _, name := range []string{"start", "end"} {
		found := s.get(t, path+".geojson?_fields=n&_coordinates="+name+"_lat").features(t)
		for i, line := range strings.Split(strings.TrimSpace(s.get(t, path+".ndjson").body), "\n") {
			var r map[string]string
			must.NoError(t, json.Unmarshal([]byte(line), &r))
			f := found[i]
			if want := url.PathEscape(r["line"]) + "/" + r["n"]; f.ID != want || f.Properties["n"] != r["n"] ||
				len(f.Properties) != 1 {
				t.Errorf("the id is %v, want %s", f.ID, want)
			}
			x, errX := strconv.ParseFloat(r[name+"_lon"], 64)
			y, errY := strconv.ParseFloat(r[name+"_lat"], 64)
			isPosition := errX == nil && errY == nil && y <= 90
			if isPosition != (f.Geometry != nil) {
				t.Errorf("%v has the geometry %v", r, f.Geometry)
			} else if want := "[" + r[name+"_lon"] + "," + r[name+"_lat"] + "]"; isPosition && x <= 180 &&
				string(f.Geometry.Coordinates) != want {
				t.Errorf("%v has the coordinates %s", r, f.Geometry.Coordinates)
			}
		}
	}
}

// TestGeoJSON checks the bytes of files, and the responses around them.
func TestGeoJSON(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	field := func(name string, t herb.Type) herb.Field {
		return herb.Field{Name: name, Type: t, Filterable: true, Sortable: true}
	}
	d := herb.Dataset{Ref: herb.Ref{Namespace: "geo", Name: "areas"}, Version: "v1",
		Fields: []herb.Field{field("id", herb.TypeNumber), field("area", herb.TypeText)}}
	d.PrimaryKey = []string{"id"}
	const polygon = "POLYGON ((0 0, 1.50 0, 1 1, 0 0))"
	records := []herb.Record{{"7", polygon}, {"8", ""}, {"9", "POINT (200 5)"}}
	s.library.put(d, records)
	d.Name, d.Access = "secret", herb.AccessKey
	s.library.put(d, records)
	const first = `{"type":"Feature","id":"7","geometry":{"type":"Polygon","coordinates":[[[0,0],[1.50,0],[1,1],[0,0]]]},"properties":{"id":"7","area":"` + polygon + `"}}`
	head, tail := `{"type":"FeatureCollection","features":[`+"\n", "\n]}\n"
	tags := map[string]bool{}
	for _, tt := range []struct{ target, want string }{
		{"?id=7", first},
		{"", first + ",\n" + `{"type":"Feature","id":"8","geometry":null,"properties":{"id":"8","area":""}}` + ",\n" +
			`{"type":"Feature","id":"9","geometry":{"type":"Point","coordinates":[-160,5]},"properties":{"id":"9","area":"POINT (200 5)"}}`},
		{"?id=8&_typed=true", `{"type":"Feature","id":8,"geometry":null,"properties":{"id":8,"area":null}}`},
		{"?id=9&_fields=id&_typed=true",
			`{"type":"Feature","id":9,"geometry":{"type":"Point","coordinates":[-160,5]},"properties":{"id":9}}`},
		{"?id=1", ""},
	} {
		a := s.get(t, "/api/v1/geo/areas/data.geojson"+tt.target)
		if a.status != 200 || a.body != head+tt.want+tail {
			t.Errorf("%s: %d %s", tt.target, a.status, a.body)
		}
		a.checkHeaders(t, "Content-Type: application/geo+json",
			`Content-Disposition: attachment; filename="areas.geojson"`, "Content-Digest: "+digest(a.body))
		if tag := a.header.Get("Etag"); tags[tag] ||
			s.get(t, "/api/v1/geo/areas/data.geojson"+tt.target, "If-None-Match: "+tag).status != 304 {
			t.Errorf("%s has the entity tag %s", tt.target, tag)
		}
		tags[a.header.Get("Etag")] = true
	}
	if a := s.get(t, "/api/v1/geo/areas/data?id=7", "Accept: application/geo+json",
		"Accept-Encoding: zstd"); a.body != head+first+tail || a.header.Get("Content-Encoding") != "zstd" {
		t.Errorf("by Accept: %s", a.body)
	}
	if a := s.get(t, "/api/v1/geo/areas/data?id=7",
		"Accept: application/geo+json;q=0.5, application/json"); a.header.Get("Content-Type") != "application/json" {
		t.Errorf("JSON is preferred: %s", a.body)
	}
	if a := s.get(t, "/api/v1/geo/secret/data.geojson?id=7", "X-API-Key: "+reader); a.body != head+first+tail {
		t.Errorf("with a key: %s", a.body)
	}
	s.checkRejections(t, []rejection{
		{"", "/api/v1/geo/secret/data.geojson", 401, "requires a key"},
		{"", catalogData + ".geojson", 400,
			"dataset garden/catalog has no coordinates, so there is no GeoJSON of it; download data.csv, or name the " +
				"fields"},
		{"", "/api/v1/store/plants/data.geojson", 400, "has no coordinates"},
		{"", "/api/v1/geo/areas/data.geojson?_coordinates=id", 400, "it must name coordinates of the dataset: area"},
		{"", "/api/v1/geo/areas/data.geojson?page=1", 400, "an export has no pages"},
		{"", "/api/v1/geo/areas/data.geojson?_version=v0", 410, "no version"},
	})
	for dataset, want := range map[string]bool{"geo/areas": true, "garden/catalog": false} {
		if strings.Contains(s.get(t, "/openapi.json?dataset="+dataset).body, `"/api/v1/`+dataset+
			`/data.geojson"`) != want {
			t.Errorf("the document of %s has data.geojson, or lacks it", dataset)
		}
	}
}
