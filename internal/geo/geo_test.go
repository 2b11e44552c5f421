package geo_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"herbarium/internal/geo"
	"herbarium/internal/herb"
)

func TestPointOf(t *testing.T) {
	t.Parallel()
	ring := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%d %d,", 10+i%10, 20+i%20)
		}
		return "(" + b.String() + "10 20)"
	}
	for _, tt := range []struct {
		notation herb.CoordinatesNotation
		value    string
		want     geo.Point
	}{
		{"wkt", "POINT (-87.6 41.8)", geo.NewPoint(-87.6, 41.8)},
		{"wkt", "point(-87.6 41.8)", geo.NewPoint(-87.6, 41.8)},
		{"wkt", "SRID=4326;POINT Z (10 59.5 120)", geo.NewPoint(10, 59.5)},
		{"wkt", "POINTZM(10 59.5 120 3)", geo.NewPoint(10, 59.5)},
		{"wkt", "LINESTRING (0 0, 10 20)", geo.NewPoint(5, 10)},
		{"wkt", "POLYGON ((0 0, 10 0, 10 10, 0 0))", geo.NewPoint(5, 5)},
		{"wkt", "MULTIPOINT ((1 1), (3 5))", geo.NewPoint(2, 3)},
		{"wkt", "MULTIPOINT (1 1, 3 5)", geo.NewPoint(2, 3)},
		{"wkt", "MULTIPOLYGON (((177 -20, 180 -20, 180 -16, 177 -20)), ((-180 -20, -179 -20, -179 -16, -180 -20)))",
			geo.NewPoint(179, -18)},
		{"wkt", "GEOMETRYCOLLECTION (POINT (1 2), LINESTRING (3 4, 5 6))", geo.NewPoint(3, 4)},
		{"wkt", "POLYGON (" + ring(1_000_000) + ")", geo.NewPoint(14.5, 29.5)},
		{"wkt", "POINT EMPTY", geo.None},
		{"wkt", "", geo.None},
		{"wkt", "POINT", geo.Invalid}, {"wkt", "POINT ()", geo.Invalid}, {"wkt", "POINT (a b)", geo.Invalid},
		{"wkt", "POINT (5)", geo.Invalid},
		{"wkt", "POINT (448262 4612000)", geo.Invalid}, {"wkt", "(1 2)", geo.Invalid},
		{"wkt", "CIRCLE (1 2)", geo.Invalid},
		{"wkt", "the POINT (1 2)", geo.Invalid}, {"wkt", "POINT (1 2) x", geo.Invalid},
		{"wkt", "POINT (NaN 2)", geo.Invalid}, {"wkt", "POINT (1e999 2)", geo.Invalid},
		{"wkt", "MULTIPOLYGON (((0 0, 4 0, 4 8)", geo.Invalid}, {"wkt", "LINESTRING (0 0, 1e18 20)", geo.Invalid},
		{"wkt", strings.Repeat("GEOMETRYCOLLECTION (", 100_000), geo.Invalid},
		{"wkt", "POINT" + strings.Repeat("(", 2_000_000), geo.Invalid},
		{"geojson", `{"type":"Point","coordinates":[-87.6,41.8]}`, geo.NewPoint(-87.6, 41.8)},
		{"geojson", ` { "coordinates" : [ 1 , 2 , 3 ] , "bbox":[{"a":["}"]}], "type" : "Point" } `, geo.NewPoint(1, 2)},
		{"geojson", `{"type":"Polygon","coordinates":[[[0,0],[10,0],[10,10],[0,0]]]}`, geo.NewPoint(5, 5)},
		{"geojson", `{"type":"MultiPoint","coordinates":[]}`, geo.None},
		{"geojson", `{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},{"type":"LineString","coordinates":[[3,4],[5,6]]}]}`, geo.NewPoint(3, 4)},
		{"geojson", `{"type":"Point","coordinates":[[1,2]]}`, geo.Invalid},
		{"geojson", `{"type":"Polygon","coordinates":[[1,2]]}`, geo.Invalid},
		{"geojson", `{"type":"Point","coordinates":["1","2"]}`, geo.Invalid},
		{"geojson", `{"type":"Point","coordinates":[1]}`, geo.Invalid},
		{"geojson", `{"type":"Point","coordinates":[1,2]`, geo.Invalid},
		{"geojson", `{"type":"Point"}`, geo.Invalid}, {"geojson", `{"type":"Circle","coordinates":[1,2]}`, geo.Invalid},
		{"geojson", `[1,2]`, geo.Invalid},
		{"geojson", `{"type":"Polygon","coordinates":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}",
			geo.Invalid},
		{"lat,lon", "52.5, 13.4", geo.NewPoint(13.4, 52.5)}, {"lat,lon", "(52.5 13.4)", geo.NewPoint(13.4, 52.5)},
		{"lat,lon", "[-52.5;13]", geo.NewPoint(13, -52.5)},
		{"lon,lat", "13.4,52.5", geo.NewPoint(13.4, 52.5)},
		{"lat,lon", "52.5", geo.Invalid}, {"lat,lon", "1,2,3", geo.Invalid}, {"lat,lon", "91,0", geo.Invalid},
		{"lat,lon", "1e1,2", geo.Invalid}, {"lat,lon", " ", geo.None},
	} {
		if got := geo.PointOf(tt.notation, tt.value); got != tt.want {
			t.Errorf("%s %.80s: %v, want %v", tt.notation, tt.value, got, tt.want)
		}
	}
}

func TestNewPoint(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		longitude, latitude float64
		want                geo.Point
	}{
		{180, 0, geo.Point{Longitude: -1800000000}}, {-180, 90, geo.Point{Longitude: -1800000000, Latitude: 900000000}},
		{359.5, -90, geo.Point{Longitude: -5000000, Latitude: -900000000}},
		{360, 0, geo.Point{}}, {0.00000006, 0, geo.Point{Longitude: 1}}, {360.1, 0, geo.Invalid},
		{-180.1, 0, geo.Invalid}, {0, 90.1, geo.Invalid}, {0, 1e18, geo.Invalid},
		{math.NaN(), 0, geo.Invalid}, {0, math.NaN(), geo.Invalid}, {math.Inf(1), 0, geo.Invalid},
	} {
		if got := geo.NewPoint(tt.longitude, tt.latitude); got != tt.want {
			t.Errorf("%v, %v: %v, want %v", tt.longitude, tt.latitude, got, tt.want)
		}
	}
}

func TestMillimeters(t *testing.T) {
	t.Parallel()
	const quarter = geo.EarthRadius * math.Pi / 2 * 1000
	for _, tt := range []struct {
		a, b [2]float64 // latitude, longitude
		want float64
	}{
		{[2]float64{0, 0}, [2]float64{0, 90}, quarter}, {[2]float64{90, 0}, [2]float64{90, 123}, 0},
		{[2]float64{90, 10}, [2]float64{-90, 0}, 2 * quarter},
		{[2]float64{0, 179}, [2]float64{0, -179}, quarter / 45}, {[2]float64{0, 0}, [2]float64{0, 180}, 2 * quarter},
		{[2]float64{45, 30}, [2]float64{-45, -150}, 2 * quarter},
		{[2]float64{47.3769, 8.5417}, [2]float64{52.52, 13.405}, 670353_000},
	} {
		got := geo.NewPoint(tt.a[1], tt.a[0]).Millimeters(geo.NewPoint(tt.b[1], tt.b[0]))
		tolerance := 1.0
		if tt.want == 670353_000 { // as other programs compute it
			tolerance = 4e6 // which use an ellipsoid
		}
		if math.Abs(float64(got)-tt.want) > tolerance {
			t.Errorf("%v, %v: %d mm, want %.0f", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"5.9,45.8,10.5,47.8": "5.9,45.8,10.5,47.8", "170,-10,-170,10": "170,-10,-170,10",
		"-180,-90,180,90": "-180,-90,180,90", "1e1, 0 ,10,0": "10,0,10,0",
		"": "", "1,2,3": "", "1,2,3,4,5": "", "0,1,0,0": "", "-181,0,0,0": "", "0,0,0,90.1": "", "NaN,0,0,0": "",
		"0,0,Inf,0": "", "0,0,1e999,0": "", "a,b,c,d": "",
	} {
		got, err := geo.ParseBox("_bbox", value)
		if (err == nil) != (want != "") || err == nil && got.String() != want || err != nil &&
			!strings.Contains(err.Error(), "west,south,east,north") {
			t.Errorf("box %s: %v, %v", value, got, err)
		}
	}
	for value, want := range map[string]string{
		"47.37,8.54,5000": "47.37,8.54,5000", "90,180,0": "90,-180,0", "0,0,1e30": "0,0,1000000000",
		"0,0,0.0005": "0,0,0.001",
		"":           "", "1,2": "", "91,0,1": "", "0,181,1": "", "0,0,-1": "", "0,0,NaN": "", "0,0,x": "",
	} {
		got, err := geo.ParseCircle("_near", value)
		if (err == nil) != (want != "") || err == nil && got.String() != want || err != nil &&
			!strings.Contains(err.Error(), "latitude,longitude,meters") {
			t.Errorf("circle %s: %v, %v", value, got, err)
		}
	}
}
