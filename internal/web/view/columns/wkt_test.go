package columns_test

import (
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/web/view/columns"
)

func TestParseWKT(t *testing.T) {
	t.Parallel()
	for s, want := range map[string][2]float64{
		"POINT (-87.6 41.8)":                                 {-87.6, 41.8},
		"point(-87.6 41.8)":                                  {-87.6, 41.8},
		"SRID=4326;POINT Z (10 59.5 120)":                    {10, 59.5},
		"LINESTRING (0 0, 10 20)":                            {5, 10},
		"POLYGON ((0 0, 10 0, 10 10, 0 0))":                  {5, 5},
		"MULTIPOLYGON (((0 0, 4 0, 4 8)), ((-4 0, 0 0, 0 -8": {0, 0},
		"MULTIPOINT ((1 1), (3 5))":                          {2, 3},
	} {
		if x, y, ok := columns.ParseWKT(s); !ok || x != want[0] || y != want[1] {
			t.Errorf("%s: %v, %v, %v", s, x, y, ok)
		}
	}
	for _, s := range []string{"", "POINT", "POINT EMPTY", "POINT ()", "POINT (a b)", "POINT (5)", "POINT (448262 4612000)", "(1 2)", "CIRCLE (1 2)", "the POINT (1 2)"} {
		if x, y, ok := columns.ParseWKT(s); ok {
			t.Errorf("%q: %v, %v", s, x, y)
		}
	}
}

func TestMapPairs_wkt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		least, greatest string
		want            int
	}{
		{"POINT (-87.6 41.8)", "POINT (9 1)", 1}, {"MULTIPOLYGON (((0 0", "POLYGON ((3 4", 1}, {"POINT (1 2)", "elsewhere", 0}, {"a", "b", 0}, {"", "", 0},
	} {
		d := &herb.Dataset{Fields: []herb.Field{{Name: "name", Type: herb.TypeText}, {Name: "the_geom", Type: herb.TypeText}}}
		d.Report = &herb.Report{Columns: []herb.ColumnReport{{Field: "name", Min: "a", Max: "b"}, {Field: "the_geom", Min: tt.least, Max: tt.greatest}}}
		pairs := columns.Read(d).Pairs
		if len(pairs) != tt.want || tt.want == 1 && (!pairs[0].WKT || pairs[0].Latitude != 1) {
			t.Errorf("%s to %s: %v", tt.least, tt.greatest, pairs)
		}
	}
}
