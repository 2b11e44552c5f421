package geo_test

import (
	"encoding/json"
	"strings"
	"testing"

	"herbarium/internal/geo"
	"herbarium/internal/herb"
)

// geometryOf returns the geometry of a value in one field.
func geometryOf(notation herb.CoordinatesNotation, value string) string {
	fields := []herb.Field{{Name: "place", Type: herb.TypeText}}
	r, _ := geo.NewReader(herb.Coordinates{Field: "place", Notation: notation}, fields)
	return string(r.AppendGeometry(nil, []string{value}))
}

func TestReader_AppendGeometry(t *testing.T) {
	t.Parallel()
	point := func(xy string) string { return `{"type":"Point","coordinates":[` + xy + `]}` }
	ring := strings.Repeat("10.5 20.25,", 200_000)
	for _, tt := range []struct {
		notation    herb.CoordinatesNotation
		value, want string
	}{
		{"wkt", "POINT (-87.600 41.80)", point("-87.600,41.80")},
		{"wkt", " SRID=4326;pointz(10 59.5 120.0) ", point("10,59.5,120.0")},
		{"wkt", "POINT M (10 59.5 7)", point("10,59.5")}, {"wkt", "POINT ZM (10 59.5 120 7)", point("10,59.5,120")},
		{"wkt", "POINT (1 2 3 4)", point("1,2,3")},
		{"wkt", "POINT (+1.5 .5)", point("1.5,0.5")}, {"wkt", "POINT (1e1 -0)", point("10,-0")},
		{"wkt", "POINT (007 5.)", point("7,5")}, {"wkt", "POINT (1e-300 1)", point("1e-300,1")},
		{"wkt", "POINT (180 90)", point("180,90")}, {"wkt", "POINT (-180 -90)", point("-180,-90")},
		{"wkt", "POINT (200.1 1)", point("-159.9,1")}, {"wkt", "POINT (360 1)", point("0,1")},
		{"wkt", "LINESTRING (0 0, 10 20)", `{"type":"LineString","coordinates":[[0,0],[10,20]]}`},
		{"wkt", "LINESTRING (190 0, 180 20)", `{"type":"LineString","coordinates":[[-170,0],[-180,20]]}`},
		{"wkt", "LINESTRING (170 0, 190 0)", point("-180,0")},
		{"wkt", "LINESTRING (170 0, -170 0)", `{"type":"LineString","coordinates":[[170,0],[-170,0]]}`},
		{"wkt", "LINESTRING (5 6)", point("5,6")}, {"wkt", "POLYGON ((0 0, 10 0, 10 10, 0 1))", point("5,5")},
		{"wkt", "POLYGON ((0 0, 10 0, 0 0))", point("5,0")},
		{"wkt", "POLYGON ((0 0, 9 0, 9 9, 0 0), (1 1, 2 1, 2 2, 1 1))",
			`{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,0]],[[1,1],[2,1],[2,2],[1,1]]]}`},
		{"wkt", "POLYGON ((0 0 1, 9 0 1, 9 9 1, 0 0 2))", point("4.5,4.5")},
		{"wkt", "MULTIPOINT ((1 1), 3 5)", `{"type":"MultiPoint","coordinates":[[1,1],[3,5]]}`},
		{"wkt", "MULTILINESTRING ((1 1, 2 2), (3 3, 4 4))",
			`{"type":"MultiLineString","coordinates":[[[1,1],[2,2]],[[3,3],[4,4]]]}`}, {"wkt",
			"MULTILINESTRING ((1 1, 2 2), (3 3))", point("2,2")},
		{"wkt", "MULTIPOLYGON (((0 0, 4 0, 4 8, 0 0)))",
			`{"type":"MultiPolygon","coordinates":[[[[0,0],[4,0],[4,8],[0,0]]]]}`},
		{"wkt", "GEOMETRYCOLLECTION (POINT (1 2), LINESTRING (3 4, 5 6))",
			`{"type":"GeometryCollection","geometries":[` + point("1,2") +
				`,{"type":"LineString","coordinates":[[3,4],[5,6]]}]}`},
		{"wkt", "GEOMETRYCOLLECTION (POINT EMPTY, POINT (1 2))", point("1,2")}, {"wkt", "POLYGON EMPTY", "null"},
		{"wkt", "", "null"}, {"wkt", "POINT (NaN 2)", "null"},
		{"wkt", "POINT (1 2 1e999)", "null"}, {"wkt", "POINT (400 2)", "null"},
		{"wkt", "POLYGON ((0 0, 1e9 0, 9 9, 0 0))", "null"}, {"wkt", "POINT (1 2), 3", "null"},
		{"wkt", "POLYGON ((" + ring + "10.5 20.25))", `{"type":"Polygon","coordinates":[[` +
			strings.Repeat("[10.5,20.25],", 200_000) + "[10.5,20.25]]]}"},
		{"wkt", strings.Repeat("GEOMETRYCOLLECTION (", 8) + "POINT (1 2)" + strings.Repeat(")", 8),
			strings.Repeat(`{"type":"GeometryCollection","geometries":[`, 8) + point("1,2") + strings.Repeat("]}", 8)},
		{"wkt", strings.Repeat("GEOMETRYCOLLECTION (", 9) + "POINT (1 2)" + strings.Repeat(")", 9), "null"},
		{"wkt", strings.Repeat("GEOMETRYCOLLECTION (", 100_000), "null"},
		{"wkt", "POLYGON " + strings.Repeat("(", 2_000_000), "null"},
		{"geojson", ` { "coordinates" : [ 1.50 , 2 , 3, 4 ] , "crs":{"type":"name"}, "bbox":[0], "type" : "Point" } `,
			point("1.50,2,3")},
		{"geojson", `{"type":"LineString","coordinates":[[1,2],[3E0,4]]}`,
			`{"type":"LineString","coordinates":[[1,2],[3,4]]}`},
		{"geojson", `{"type":"Polygon","coordinates":[[[0,0],[10,0],[10,10],[0,0]]]}`,
			`{"type":"Polygon","coordinates":[[[0,0],[10,0],[10,10],[0,0]]]}`},
		{"geojson", `{"type":"Polygon","coordinates":[[[0,0],[10,0],[10,10],[0,0]],[]]}`, point("5,5")},
		{"geojson", `{"type":"Polygon","coordinates":[[[0,0],[10,0],[0,0]]]}`, point("5,0")},
		{"geojson", `{"type":"MultiLineString","coordinates":[[[0,0],[1,1]],[[2,2]]]}`, point("1,1")},
		{"geojson", `{"type":"MultiPoint","coordinates":[[2,2]]}`, `{"type":"MultiPoint","coordinates":[[2,2]]}`},
		{"geojson", `{"geometries":[{"coordinates":[1,2],"type":"Point"}],"type":"GeometryCollection"}`,
			`{"type":"GeometryCollection","geometries":[` + point("1,2") + `]}`},
		{"geojson", `{"type":"Point","coordinates":[1,2,1e999]}`, point("1,2")},
		{"geojson", `{"type":"Point","coordinates":[1,95]}`, "null"},
		{"geojson", `{"type":"Point","coordinates":[190.5,5]}`, point("-169.5,5")},
		{"geojson", `{"type":"LineString","coordinates":[[170,0],[190,10]]}`, point("-180,5")},
		{"geojson", `{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]}}`, "null"},
		{"geojson", `{"type":"Polygon","coordinates":[]}`, "null"},
		{"geojson", `{"type":"Polygon","coordinates":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}",
			"null"}, {"geojson", "[1,2]", "null"},
		{"lat,lon", "52.50, +13.4", point("13.4,52.50")}, {"lon,lat", "(200 52.5)", point("-160,52.5")},
		{"lat,lon", "-90;180", point("180,-90")}, {"lat,lon", "91,0", "null"}, {"lat,lon", "x", "null"},
		{"lat,lon", " ", "null"},
	} {
		got := geometryOf(tt.notation, tt.value)
		if got != tt.want || !json.Valid([]byte(got)) {
			t.Errorf("%s %.80s: %.200s, want %.200s", tt.notation, tt.value, got, tt.want)
		}
	}
}

func TestReader_AppendGeometry_pair(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{
		{Name: "lat", Type: herb.TypeNumber, Notation: herb.Notation{Decimal: ",", Missing: []string{"NA"}}},
		{Name: "lon", Type: herb.TypeNumber},
	}
	r, _ := geo.NewReader(herb.Coordinates{Latitude: "lat", Longitude: "lon"}, fields)
	for _, tt := range []struct{ latitude, longitude, want string }{
		{"52,500", "13.40", "[13.40,52.500]"}, {"90", "180", "[180,90]"}, {"-90", "-180.0", "[-180.0,-90]"},
		{"0", "180.0000001", "[-179.9999999,0]"}, {"0", "359.5", "[-0.5,0]"}, {"0", "360", "[0,0]"},
		{"NA", "1", ""}, {"1", "", ""}, {"90,1", "0", ""}, {"0", "-180.1", ""}, {"0", "1e300", ""},
		{"1", "1e-300", "[0." + strings.Repeat("0", 299) + "1,1]"},
	} {
		want := "null"
		if tt.want != "" {
			want = `{"type":"Point","coordinates":` + tt.want + "}"
		}
		if got := string(r.AppendGeometry([]byte("x"), []string{tt.latitude, tt.longitude})); got != "x"+want {
			t.Errorf("%s, %s: %s, want %s", tt.latitude, tt.longitude, got, want)
		}
	}
}

// FuzzReader_AppendGeometry checks that a geometry is valid JSON, not much longer than its value,
// and that a value has one exactly if it has a position.
func FuzzReader_AppendGeometry(f *testing.F) {
	f.Add("GEOMETRYCOLLECTION(POINT(1e-9 +2),MULTIPOINT((1 2),3 4))")
	f.Add(`{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}`)
	f.Add("52.5;13")
	f.Fuzz(func(t *testing.T, value string) {
		for _, notation := range herb.CoordinatesNotations() {
			got := geometryOf(notation, value)
			if !json.Valid([]byte(got)) || (got != "null") != geo.PointOf(notation, value).IsPosition() ||
				len(got) > 100+5*len(value) {
				t.Errorf("%s %q: %s", notation, value, got)
			}
		}
	})
}
