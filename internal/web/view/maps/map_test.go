package maps_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/maps"
)

// numbers returns a dataset of number fields.
func numbers(names ...string) *herb.Dataset {
	d := &herb.Dataset{Ref: herb.Ref{Namespace: "geo", Name: "places"}}
	for _, name := range names {
		d.Fields = append(d.Fields, herb.Field{Name: name, Type: herb.TypeNumber, Filterable: true})
	}
	return d
}

func TestNewMapRequest(t *testing.T) {
	t.Parallel()
	d := numbers("lat", "lon")
	pair := columns.Read(d).Pairs[0]
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
		q := maps.NewMapRequest(columns.Read(d), pair, query.Facet{Min: tt.lat[0], Max: tt.lat[1]}, query.Facet{Min: tt.lon[0], Max: tt.lon[1]}, nil, maps.MapColumns, "")
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
	q := maps.NewMapRequest(columns.Read(d), columns.Read(d).Pairs[0], query.Facet{Min: "-60", Max: "60"}, query.Facet{Min: "1", Max: "100"}, nil, maps.MapColumns, "")
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
		q := maps.NewMapRequest(columns.Read(d), columns.Read(d).Pairs[0], query.Facet{}, query.Facet{}, nil, maps.MapColumns, shown)
		if diff := cmp.Diff(want, q.Bounds, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("%s: %s", shown, diff)
		}
		if q.Columns > 256 || q.Rows > 256 || q.Columns < 1 || q.Rows < 1 {
			t.Errorf("%s: %d × %d cells", shown, q.Columns, q.Rows)
		}
	}
}
