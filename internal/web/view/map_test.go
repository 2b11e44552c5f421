package view_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view"
)

// numbers returns a dataset of number fields.
func numbers(names ...string) *herb.Dataset {
	d := &herb.Dataset{Ref: herb.Ref{Namespace: "geo", Name: "places"}}
	for _, name := range names {
		d.Fields = append(d.Fields, herb.Field{Name: name, Type: herb.TypeNumber, Filterable: true})
	}
	return d
}

func TestMapPairs(t *testing.T) {
	t.Parallel()
	ranged := func(low, high string) *herb.Dataset {
		d := numbers("lat", "lon")
		d.Report = &herb.Report{Columns: []herb.ColumnReport{{Field: "lat", Min: "-90", Max: "90"}, {Field: "lon", Min: low, Max: high}}}
		return d
	}
	text := numbers("lat", "lon")
	text.Fields[0].Type = herb.TypeText
	hidden := numbers("lat", "lon")
	hidden.Fields[1].Filterable = false
	declared := numbers("lat", "lon", "y", "x")
	declared.Descriptor = []byte(`{"resource":{"herbarium":{"map":{"latitude":"y","longitude":"x"}}}}`)
	plane := func(names []string, ends ...[2]string) *herb.Dataset {
		d := numbers(names...)
		d.Report = &herb.Report{}
		for i, name := range names {
			d.Report.Columns = append(d.Report.Columns, herb.ColumnReport{Field: name, Min: ends[i][0], Max: ends[i][1]})
		}
		return d
	}
	chicago := [][2]string{{"-87.94011", "-87.52453"}, {"41.64459", "42.02304"}}
	for _, tt := range []struct {
		name string
		d    *herb.Dataset
		want string
	}{
		{"x and y", plane([]string{"X", "Y"}, chicago...), "Y, X"},
		{"x and y of a point", plane([]string{"point_x", "point_y"}, chicago...), "point_y, point_x"},
		{"x and y of different things", plane([]string{"home_x", "work_y"}, chicago...), ""},
		{"x, y and z", plane([]string{"x", "y", "z"}, append(chicago, [2]string{"1.1", "2.2"})...), ""},
		{"x and y in meters", plane([]string{"x", "y"}, [2]string{"448262.123", "451000.456"}, [2]string{"41.64459", "42.02304"}), ""},
		{"x and y with few decimals", plane([]string{"x", "y"}, [2]string{"3.7", "9.5"}, [2]string{"1.2", "8.1"}), ""},
		{"x and y around the origin", plane([]string{"x", "y"}, [2]string{"-4.12345", "9.54321"}, [2]string{"-1.22222", "8.11111"}), ""},
		{"x and y without a report", numbers("x", "y"), ""},
		{"degrees before x and y", plane([]string{"x", "y", "lat", "lon"}, append(chicago, chicago[1], chicago[0])...), "lat, lon"},
		{"words", numbers("id", "Latitude", "Longitude"), "Latitude, Longitude"},
		{"short", numbers("lng", "lat"), "lat, lng"},
		{"two pairs", numbers("pickup_longitude", "pickup_latitude", "dropoff_latitude", "dropoff_longitude"),
			"pickup_latitude, pickup_longitude; dropoff_latitude, dropoff_longitude"},
		{"camel case", numbers("decimalLatitude", "decimalLongitude"), "decimalLatitude, decimalLongitude"},
		{"one word", numbers("reclat", "reclong"), "reclat, reclong"},
		{"different things", numbers("home_lat", "work_lon"), ""},
		{"no pair", numbers("flat", "lon"), ""},
		{"text", text, ""},
		{"not filterable", hidden, ""},
		{"degrees", ranged("-180", "180"), "lat, lon"},
		{"degrees from 0 to 360", ranged("0", "359.5"), "lat, lon"},
		{"both notations of degrees", ranged("-165", "354"), "lat, lon"},
		{"more than 360 degrees", ranged("0", "361"), ""},
		{"meters", ranged("-180", "7000"), ""},
		{"declared", declared, "y, x"},
	} {
		var got []string
		for _, p := range view.MapPairs(tt.d) {
			got = append(got, view.Heading(tt.d.Fields[p.Latitude])+", "+view.Heading(tt.d.Fields[p.Longitude]))
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestNewMapRequest(t *testing.T) {
	t.Parallel()
	d := numbers("lat", "lon")
	pair := view.MapPairs(d)[0]
	for _, tt := range []struct {
		name          string
		lat, lon      [2]string
		want          query.Bounds
		columns, rows int
	}{
		{"world", [2]string{"-60", "70"}, [2]string{"-170", "175"}, query.Bounds{MinX: -180, MinY: -90, MaxX: 180, MaxY: 90}, 144, 72},
		{"nothing", [2]string{"", ""}, [2]string{"", ""}, query.Bounds{MinX: -180, MinY: -90, MaxX: 180, MaxY: 90}, 144, 72},
		{"country", [2]string{"0", "12"}, [2]string{"100", "124"}, query.Bounds{MinX: 98, MinY: -1, MaxX: 126, MaxY: 13}, 144, 72},
		{"world from 0 to 360", [2]string{"-60", "70"}, [2]string{"2", "358"}, query.Bounds{MinX: 0, MinY: -90, MaxX: 360, MaxY: 90}, 144, 72},
		{"Pacific", [2]string{"0", "12"}, [2]string{"170", "194"}, query.Bounds{MinX: 168, MinY: -1, MaxX: 196, MaxY: 13}, 144, 72},
		{"both notations", [2]string{"0", "12"}, [2]string{"-165", "354"}, query.Bounds{MinX: -180, MinY: -90, MaxX: 180, MaxY: 90}, 144, 72},
		{"tall", [2]string{"0", "24"}, [2]string{"100", "100"}, query.Bounds{MinX: 99.99, MinY: -2, MaxX: 100.3788888888889, MaxY: 26}, 1, 72},
	} {
		q := view.NewMapRequest(d, pair, query.Facet{Min: tt.lat[0], Max: tt.lat[1]}, query.Facet{Min: tt.lon[0], Max: tt.lon[1]}, nil, view.MapColumns, "")
		if diff := cmp.Diff(tt.want, q.Bounds, cmpopts.EquateApprox(0, 1e-9)); diff != "" || q.Columns != tt.columns || q.Rows != tt.rows {
			t.Errorf("%s: %d × %d\n%s", tt.name, q.Columns, q.Rows, diff)
		}
	}
}

// TestNewMapRequest_filtered checks that the map of some rows begins where that of all rows does.
func TestNewMapRequest_filtered(t *testing.T) {
	t.Parallel()
	d := numbers("lat", "lon")
	d.Report = &herb.Report{Columns: []herb.ColumnReport{{Field: "lat", Min: "-60", Max: "60"}, {Field: "lon", Min: "1", Max: "359"}}}
	q := view.NewMapRequest(d, view.MapPairs(d)[0], query.Facet{Min: "-60", Max: "60"}, query.Facet{Min: "1", Max: "100"}, nil, view.MapColumns, "")
	if q.Bounds.MinX != 0 {
		t.Errorf("the map of longitudes up to 100 begins at %v, want 0", q.Bounds.MinX)
	}
}

// TestNewMapRequest_shown checks the part of a map that a URL names: it is moved to the world, and
// neither larger nor smaller than a map shows.
func TestNewMapRequest_shown(t *testing.T) {
	t.Parallel()
	d := numbers("lat", "lon")
	for shown, want := range map[string]query.Bounds{
		"120,20,160,40":             {MinX: 120, MinY: 20, MaxX: 160, MaxY: 40},
		"500,20,540,40":             {MinX: 160, MinY: 20, MaxX: 200, MaxY: 40},
		"-9999,-9999,9999,9999":     {MinX: -360, MinY: -180, MaxX: 360, MaxY: 180},
		"1,1,1.00000001,1.00000001": {MinX: 0.999900005, MinY: 0.999900005, MaxX: 1.000100005, MaxY: 1.000100005},
	} {
		q := view.NewMapRequest(d, view.MapPairs(d)[0], query.Facet{}, query.Facet{}, nil, view.MapColumns, shown)
		if diff := cmp.Diff(want, q.Bounds, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("%s: %s", shown, diff)
		}
		if q.Columns > 256 || q.Rows > 256 || q.Columns < 1 || q.Rows < 1 {
			t.Errorf("%s: %d × %d cells", shown, q.Columns, q.Rows)
		}
	}
}
