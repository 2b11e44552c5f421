package columns_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/web/view/columns"
)

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
		for _, p := range columns.Read(tt.d).Pairs {
			got = append(got, columns.Heading(tt.d.Fields[p.Latitude])+", "+columns.Heading(tt.d.Fields[p.Longitude]))
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// numbers returns a dataset of number fields.
func numbers(names ...string) *herb.Dataset {
	d := &herb.Dataset{Ref: herb.Ref{Namespace: "geo", Name: "places"}}
	for _, name := range names {
		d.Fields = append(d.Fields, herb.Field{Name: name, Type: herb.TypeNumber, Filterable: true})
	}
	return d
}
