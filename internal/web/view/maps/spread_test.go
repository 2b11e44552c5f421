package maps_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/segmenttest"
	"herbarium/internal/web/view/maps"
)

// exactSpread returns the distribution of values, which it sorts.
func exactSpread(values []float64) maps.Spread {
	if len(values) == 0 {
		return maps.Spread{}
	}
	slices.Sort(values)
	rank := func(percent int) float64 { return values[(percent*len(values)+99)/100-1] }
	return maps.Spread{Known: true, Least: values[0], Greatest: values[len(values)-1], First: rank(1), Last: rank(99)}
}

// TestNewPositionSpread compares the distributions of positions that strips of the world give with
// those of the sorted coordinates.
func TestNewPositionSpread(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "location", Type: herb.TypeText, Filterable: true}}
	for name, value := range map[string]func(i int) (latitude, longitude float64){
		"even": func(i int) (float64, float64) { return float64(i%180 - 90), float64(i%360) - 180 },
		"city": func(i int) (float64, float64) { return 52 + float64(i)/1e4, 13 + float64(i*7%1000)/1e4 },
		"outliers": func(i int) (float64, float64) {
			return []float64{52 + float64(i)/1e5, -89}[max(0, 6-i)/6], 13 + float64(i)/1e6
		},
		"a house":     func(i int) (float64, float64) { return 52 + float64(i)/1e7, 13 },
		"a pole":      func(int) (float64, float64) { return 90, -180 },
		"few at zero": func(i int) (float64, float64) { return float64(i / 995), float64(i / 990) },
	} {
		var records []herb.Record
		var coordinates [2][]float64
		for i := range 1000 {
			y, x := value(i)
			coordinates[maps.Latitudes], coordinates[maps.Longitudes] = append(coordinates[maps.Latitudes], y),
				append(coordinates[maps.Longitudes], x)
			records = append(records, herb.Record{fmt.Sprintf("%.7f,%.7f", y, x)})
		}
		source := segmenttest.NewOracle(fields, append(records, herb.Record{""}))
		req, err := query.Parse("", fields)
		if err != nil {
			t.Fatal(err)
		}
		for _, axis := range []maps.Axis{maps.Latitudes, maps.Longitudes} {
			var got maps.Spread
			grid := func(q *query.GridRequest) query.Grid {
				g, err := source.Grid(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				return g
			}
			requests := 0
			for q := axis.WorldRequest(req); q != nil; requests++ {
				got, q = maps.NewPositionSpread(axis, q, grid(q))
			}
			if q := got.CutPositions(axis, req); q != nil {
				got.Cut(q, grid(q))
			}
			want := exactSpread(coordinates[axis])
			tolerance := (want.Greatest-want.Least)/100 + 1e-5
			if !got.Known || got.Least > want.Least || got.Greatest < want.Greatest ||
				want.Least-got.Least > tolerance || got.Greatest-want.Greatest > tolerance ||
				got.First > want.First || got.Last < want.Last || want.First-got.First > tolerance ||
				got.Last-want.Last > tolerance || requests > 4 {
				t.Errorf("%s, axis %d: %+v after %d requests, want %+v", name, axis, got, requests, want)
			}
		}
	}
}

// TestNewSpread compares the percentiles that histograms and cells give with those of the sorted
// values.
func TestNewSpread(t *testing.T) {
	t.Parallel()
	field := herb.Field{Name: "lat", Type: herb.TypeNumber, Filterable: true,
		Notation: herb.Notation{Missing: []string{"NaN"}}}
	for name, value := range map[string]func(i int) string{
		"even": func(i int) string { return fmt.Sprintf("%d.5", i%90) },
		"two outliers": func(i int) string {
			return map[bool]string{true: "-89", false: fmt.Sprintf("52.%03d", i)}[i < 2]
		},
		"many outliers": func(i int) string {
			return map[bool]string{true: "-89", false: fmt.Sprintf("52.%03d", i)}[i < 400]
		},
		"both ends": func(i int) string {
			return map[int]string{1: "-90", 2: "90", 3: "",
				4: "NaN"}[i] + map[bool]string{true: fmt.Sprintf("12.%03d", i)}[i > 4]
		},
		"equal": func(int) string { return "48.1" },
		"few":   func(i int) string { return map[bool]string{true: fmt.Sprint(i)}[i < 3] },
		"extreme": func(i int) string {
			return map[int]string{7: "1e400", 8: "-1e400"}[i] + map[bool]string{true: "1"}[i < 7 || i > 8]
		},
		"none": func(int) string { return "" },
	} {
		var records []herb.Record
		var values []float64
		for i := range 1000 {
			records = append(records, herb.Record{value(i)})
			var v float64
			if n, _ := fmt.Sscan(value(i), &v); n == 1 && !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		source := segmenttest.NewOracle([]herb.Field{field}, records)
		req, err := query.Parse("", []herb.Field{field})
		if err != nil {
			t.Fatal(err)
		}
		found, err := source.Facets(t.Context(),
			&query.FacetRequest{Request: req, Fields: []int{0}, Buckets: query.MaxBuckets})
		if err != nil {
			t.Fatal(err)
		}
		got, want := maps.NewSpread(&field, found.Fields[0]), exactSpread(values)
		if q := got.CutRequest(req, 0); q != nil {
			grid, err := source.Grid(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			got.Cut(q, grid)
		}
		if name == "extreme" {
			if got.Known {
				t.Errorf("%s: %+v", name, got)
			}
			continue
		}
		tolerance := (want.Last - want.First) / 50
		if got.Known != want.Known || got.Least != want.Least || got.Greatest != want.Greatest ||
			got.First > want.First || got.Last < want.Last ||
			want.First-got.First > tolerance || got.Last-want.Last > tolerance {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
