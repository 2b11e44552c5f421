package geo_test

import (
	"strings"
	"testing"

	"herbarium/internal/geo"
	"herbarium/internal/herb"
)

// table returns number fields, and records with their values.
func table(names string, values ...string) (fields []herb.Field, records []herb.Record) {
	for _, name := range strings.Fields(names) {
		fields = append(fields, herb.Field{Name: name, Type: herb.TypeNumber, Filterable: true})
	}
	for len(values) > 0 {
		records = append(records, values[:len(fields)])
		values = values[len(fields):]
	}
	return fields, records
}

func TestRecognize(t *testing.T) {
	t.Parallel()
	chicago := []string{"-87.94011", "41.64459", "-87.52453", "42.02304"}
	for _, tt := range []struct {
		name   string
		fields string
		values []string
		want   string
	}{
		{"x and y", "X Y", chicago, "Y, X"},
		{"x and y of a point", "point_x point_y", chicago, "point_y, point_x"},
		{"x and y of different things", "home_x work_y", chicago, ""},
		{"x, y and z", "x y z", []string{"-87.94011", "41.64459", "1", "-87.52453", "42.02304", "2"}, ""},
		{"x and y in meters", "x y", []string{"448262.123", "41.64459", "451000.456", "42.02304"}, ""},
		{"x and y with few decimals", "x y", []string{"3.7", "1.2", "9.5", "8.1"}, ""},
		{"x and y around the origin", "x y", []string{"-4.12345", "-1.22222", "9.54321", "8.11111"}, ""},
		{"x and y without values", "x y", nil, ""},
		{"degrees before x and y", "x y lat lon", []string{"-87.94011", "41.64459", "1", "2"}, "lat, lon"},
		{"words", "id Latitude Longitude", nil, "Latitude, Longitude"},
		{"short", "lng lat", nil, "lat, lng"},
		{"two pairs", "pickup_longitude pickup_latitude dropoff_latitude dropoff_longitude", nil,
			"pickup_latitude, pickup_longitude; dropoff_latitude, dropoff_longitude"},
		{"camel case", "decimalLatitude decimalLongitude", nil, "decimalLatitude, decimalLongitude"},
		{"one word", "reclat reclong", nil, "reclat, reclong"},
		{"different things", "home_lat work_lon", nil, ""},
		{"no pair", "flat lon", nil, ""},
		{"degrees", "lat lon", []string{"-90", "-180", "90", "180"}, "lat, lon"},
		{"degrees from 0 to 360", "lat lon", []string{"-90", "0", "90", "359.5"}, "lat, lon"},
		{"more than 360 degrees", "lat lon", []string{"-90", "0", "90", "361"}, ""},
		{"meters", "lat lon", []string{"-90", "-180", "90", "7000"}, ""},
		{"huge", "lat lon", []string{"1e18", "2"}, ""},
		{"missing", "lat lon", []string{"", "2", "3", ""}, "lat, lon"},
	} {
		fields, records := table(tt.fields, tt.values...)
		if got := names(geo.Recognize(fields, records, geo.Declaration{})); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	fields, _ := table("lat lon")
	fields[1].Filterable = false
	if got := names(geo.Recognize(fields, nil, geo.Declaration{})); got != "" {
		t.Errorf("not filterable: %s", got)
	}
}

func names(all []herb.Coordinates) string {
	var parts []string
	for _, c := range all {
		parts = append(parts, strings.Join(c.Names(), ", "))
	}
	return strings.Join(parts, "; ")
}

// TestRecognize_text checks which text fields are coordinates.
func TestRecognize_text(t *testing.T) {
	t.Parallel()
	many := func(n int, value string, others ...string) []string {
		for range n {
			others = append(others, value)
		}
		return others
	}
	for _, tt := range []struct {
		field    string
		values   []string
		notation herb.CoordinatesNotation
		located  int
	}{
		{"the_geom", []string{"POINT (-87.6 41.8)", "", "POINT (9 1)"}, herb.NotationWKT, 2},
		{"shape", []string{"MULTIPOLYGON (((0 0, 1 1, 0 1, 0 0)))", "POLYGON EMPTY"}, herb.NotationWKT, 1},
		{"geom", []string{"POINT (1 2)", "elsewhere"}, "", 0},
		{"geom", many(200, "POINT (1 2)", "elsewhere"), herb.NotationWKT, 200},
		{"geom", many(200, "POINT (1 2)", "elsewhere", "a", "b"), "", 0},
		{"geom", many(500, "POINT (448262 4612000)"), "", 0},
		{"geometry", []string{`{"type":"Point","coordinates":[1,2]}`}, herb.NotationGeoJSON, 1},
		{"location", []string{"52.5,13.4", "1,2"}, herb.NotationLatLon, 2},
		{"lonlat", []string{"13.4,52.5"}, herb.NotationLonLat, 1},
		{"pair", []string{"52.51234, 13.41234"}, herb.NotationLatLon, 1},
		{"pair", []string{"5,13"}, "", 0},
		{"name", []string{"a", "b"}, "", 0},
		{"name", nil, "", 0},
		{"name", many(300, ""), "", 0},
	} {
		fields := []herb.Field{{Name: tt.field, Type: herb.TypeText, Filterable: true}}
		var records []herb.Record
		for _, v := range tt.values {
			records = append(records, herb.Record{v})
		}
		got := geo.Recognize(fields, records, geo.Declaration{})
		if tt.notation == "" && len(got) > 0 || tt.notation != "" &&
			(len(got) != 1 || got[0].Notation != tt.notation || got[0].Field != tt.field ||
				got[0].Records != tt.located) {
			t.Errorf("%s %.60q: %+v", tt.field, tt.values, got)
		}
	}
}

func TestDeclared(t *testing.T) {
	t.Parallel()
	fields, records := table("lat lon y x", "1", "2", "30", "40")
	fields = append(fields, herb.Field{Name: "text", Type: herb.TypeText, Filterable: true})
	for i := range records {
		records[i] = append(records[i], "7,8")
	}
	for settings, want := range map[string]string{
		`{"coordinates":{"latitude":"y","longitude":"x"}}`: "y, x", `{"map":{"latitude":"y","longitude":"x"}}`: "y, x",
		`{"coordinates":{"field":"text","notation":"lon,lat"},"map":{"latitude":"y","longitude":"x"}}`: "text",
		`{"coordinates":"none"}`: "", `{}`: "lat, lon",
		`{"coordinates":{"latitude":"hidden","longitude":"x"}}`: "lat, lon",
		`{"coordinates":{"latitude":"text","longitude":"x"}}`:   "lat, lon", `{"coordinates":7}`: "lat, lon",
	} {
		d := geo.Declared(herb.NewDescriptor([]byte(`{"resource":{"herbarium":`+settings+`}}`)), fields)
		if got := names(geo.Recognize(fields, records, d)); got != want {
			t.Errorf("%s: %q, want %q", settings, got, want)
		}
	}
	if got := names(geo.Recognize(fields, records, geo.Declared(nil, fields))); got != "lat, lon" {
		t.Errorf("no descriptor: %q", got)
	}
}
