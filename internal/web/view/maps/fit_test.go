package maps_test

import (
	"math"
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
	d.Coordinates = []herb.Coordinates{{Latitude: "lat", Longitude: "lon"}}
	return d
}

// evenly returns the distribution of coordinates without outliers.
func evenly(least, greatest float64) maps.Spread {
	return maps.Spread{Known: true, Least: least, Greatest: greatest, First: least, Last: greatest}
}

func TestNewFit(t *testing.T) {
	t.Parallel()
	d := numbers("lat", "lon")
	pair := columns.Read(d).Pairs[0]
	world := query.Bounds{MinX: -180, MinY: -90, MaxX: 180, MaxY: 90}
	for _, tt := range []struct {
		name          string
		lat, lon      maps.Spread
		want          query.Bounds // about
		columns, rows int
	}{
		{"world", evenly(-60, 70), evenly(-170, 175), world, 144, 72},
		{"nothing", maps.Spread{}, maps.Spread{}, world, 144, 72},
		{"country", evenly(0, 12), evenly(100, 124), query.Bounds{MinX: 98, MinY: -1, MaxX: 126, MaxY: 13}, 144, 72},
		{"north", evenly(60, 66), evenly(10, 22), query.Bounds{MinX: 9, MinY: 59.5, MaxX: 23, MaxY: 66.5}, 66, 72},
		{"world from 0 to 360", evenly(-60, 70), evenly(2, 358),
			query.Bounds{MinX: 0, MinY: -90, MaxX: 360, MaxY: 90}, 144, 72},
		{"Pacific", evenly(0, 12), evenly(170, 194), query.Bounds{MinX: 168, MinY: -1, MaxX: 196, MaxY: 13}, 144, 72},
		{"both notations", evenly(0, 12), evenly(-165, 354), world, 144, 72},
		{"both sides of the antimeridian", evenly(-19, -16), evenly(-179.9, 179.9), world, 144, 72},
		{"antipodes", evenly(-41, 41), evenly(-5, 175),
			query.Bounds{MinX: -20, MinY: -47.8, MaxX: 180, MaxY: 47.8}, 144, 69},
		{"poles and antimeridian", evenly(-90, 90), evenly(-180, 180), world, 144, 72},
		{"one point", evenly(48, 48), evenly(11, 11), query.Bounds{MinX: 10.99, MinY: 47.99, MaxX: 11.01, MaxY: 48.01},
			49, 72},
		{"a pole", evenly(90, 90), evenly(0, 0), query.Bounds{MinX: -0.01, MinY: 89.99, MaxX: 0.01, MaxY: 90}, 13, 72},
		{"beyond numbers", evenly(math.Inf(-1), math.Inf(1)), evenly(0, 1), world, 144, 72},
		{"not degrees", evenly(4000, 5000), evenly(100, 101), world, 144, 72},
		{"tall", evenly(0, 24), evenly(100, 100), query.Bounds{MinX: 99.99, MinY: -2, MaxX: 100.387, MaxY: 26}, 1, 72},
	} {
		fit := maps.NewFit(columns.Read(d), pair, tt.lat, tt.lon, nil, maps.MapColumns, "")
		if diff := cmp.Diff(tt.want, fit.Grid.Bounds, cmpopts.EquateApprox(0, 0.4)); diff != "" ||
			fit.Grid.Columns != tt.columns || fit.Grid.Rows != tt.rows {
			t.Errorf("%s: %d × %d\n%s", tt.name, fit.Grid.Columns, fit.Grid.Rows, diff)
		}
		if fit.All != nil {
			t.Errorf("%s: the map leaves out rows of %v", tt.name, *fit.All)
		}
		b := fit.Grid.Bounds
		width, height := maps.Stretch(b)*(b.MaxX-b.MinX)/float64(fit.Grid.Columns),
			(b.MaxY-b.MinY)/float64(fit.Grid.Rows)
		if math.Abs(width/height-1) > 0.02 {
			t.Errorf("%s: the cells are %v × %v on the map", tt.name, width, height)
		}
	}
}

// TestNewFit_outliers checks that a map shows the rows between the percentiles if the others would
// make it much smaller.
func TestNewFit_outliers(t *testing.T) {
	t.Parallel()
	d := columns.Read(numbers("lat", "lon"))
	berlin := func(least, greatest float64) (s maps.Spread) {
		return maps.Spread{Known: true, Least: least, Greatest: greatest, First: 52, Last: 53.2}
	}
	for _, tt := range []struct {
		name             string
		lat, lon         maps.Spread
		least, most, all float64 // latitudes; all is 0 if the map shows all rows
	}{
		{"an outlier to the south", berlin(0, 53.3), evenly(12, 14), 51.9, 53.3, -4.4},
		{"outliers everywhere", berlin(-90, 90), maps.Spread{Known: true, Least: -180, Greatest: 180, First: 12,
			Last: 14}, 51.9, 53.3, -90},
		{"nearly within", berlin(51.9, 53.4), evenly(12, 14), 51.775, 53.525, 0},
		{"most at one point", maps.Spread{Known: true, Least: 40, Greatest: 60, First: 50, Last: 50},
			maps.Spread{Known: true, Least: 0, Greatest: 20, First: 8, Last: 8}, 38.33, 61.67, 0},
	} {
		fit := maps.NewFit(d, d.Pairs[0], tt.lat, tt.lon, nil, maps.MapColumns, "")
		if b := fit.Grid.Bounds; math.Abs(b.MinY-tt.least) > 0.01 || math.Abs(b.MaxY-tt.most) > 0.1 {
			t.Errorf("%s: latitudes from %v to %v, want %v to %v", tt.name, b.MinY, b.MaxY, tt.least, tt.most)
		}
		if all := fit.All; (all != nil) != (tt.all != 0) || all != nil && math.Abs(all.MinY-tt.all) > 0.1 {
			t.Errorf("%s: all rows are in %v, want latitudes from %v", tt.name, all, tt.all)
		}
	}
}

// TestNewFit_filtered checks that the map of some rows begins where that of all rows does.
func TestNewFit_filtered(t *testing.T) {
	t.Parallel()
	d := numbers("lat", "lon")
	d.Report = &herb.Report{
		Columns: []herb.ColumnReport{{Field: "lat", Min: "-60", Max: "60"}, {Field: "lon", Min: "1", Max: "359"}}}
	fit := maps.NewFit(columns.Read(d), columns.Read(d).Pairs[0], evenly(-60, 60), evenly(1, 100), nil,
		maps.MapColumns, "")
	if fit.Grid.Bounds.MinX != 0 || fit.West != 0 {
		t.Errorf("the map of longitudes up to 100 begins at %v of %v, want 0", fit.Grid.Bounds.MinX, fit.West)
	}
}

// TestNewFit_shown checks the part of a map that a URL names: it is moved to the world, and neither
// larger nor smaller than a map shows.
func TestNewFit_shown(t *testing.T) {
	t.Parallel()
	d := columns.Read(numbers("lat", "lon"))
	for shown, want := range map[string]query.Bounds{
		"120,20,160,40":             {MinX: 120, MinY: 20, MaxX: 160, MaxY: 40},
		"500,20,540,40":             {MinX: 160, MinY: 20, MaxX: 200, MaxY: 40},
		"-9999,-9999,9999,9999":     {MinX: -360, MinY: -180, MaxX: 360, MaxY: 180},
		"1,1,1.00000001,1.00000001": {MinX: 0.999900005, MinY: 0.999900005, MaxX: 1.000100005, MaxY: 1.000100005},
		"0,80,1,200":                {MinX: 0, MinY: 30, MaxX: 1, MaxY: 150},
	} {
		q := maps.NewFit(d, d.Pairs[0], maps.Spread{}, maps.Spread{}, nil, maps.MapColumns, shown).Grid
		if diff := cmp.Diff(want, q.Bounds, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("%s: %s", shown, diff)
		}
		if q.Columns > 256 || q.Rows > 256 || q.Columns < 1 || q.Rows < 1 {
			t.Errorf("%s: %d × %d cells", shown, q.Columns, q.Rows)
		}
	}
}

func TestStretch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ least, greatest, want float64 }{
		{-90, 90, 1}, {-10, 10, 1}, {50, 70, 0.5}, {-70, -50, 0.5}, {40, 50, math.Sqrt2 / 2}, {89, 90, 0.0872},
		{-90, -89.9, 0.0872}, {30, 150, 0.0872},
	} {
		if got := maps.Stretch(query.Bounds{MinY: tt.least, MaxY: tt.greatest}); math.Abs(got-tt.want) > 0.0001 {
			t.Errorf("latitudes from %v to %v: %v, want %v", tt.least, tt.greatest, got, tt.want)
		}
	}
}
