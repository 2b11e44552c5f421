package maps_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/listtest"
	"herbarium/internal/query"
	"herbarium/internal/web/view/maps"
)

// TestNewSpread compares the percentiles that histograms and cells give with those of the sorted
// values.
func TestNewSpread(t *testing.T) {
	t.Parallel()
	field := herb.Field{Name: "lat", Type: herb.TypeNumber, Filterable: true, Notation: herb.Notation{Missing: []string{"NaN"}}}
	for name, value := range map[string]func(i int) string{
		"even":          func(i int) string { return fmt.Sprintf("%d.5", i%90) },
		"two outliers":  func(i int) string { return map[bool]string{true: "-89", false: fmt.Sprintf("52.%03d", i)}[i < 2] },
		"many outliers": func(i int) string { return map[bool]string{true: "-89", false: fmt.Sprintf("52.%03d", i)}[i < 400] },
		"both ends": func(i int) string {
			return map[int]string{1: "-90", 2: "90", 3: "", 4: "NaN"}[i] + map[bool]string{true: fmt.Sprintf("12.%03d", i)}[i > 4]
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
		source := listtest.NewOracle([]herb.Field{field}, records)
		req, err := query.Parse("", []herb.Field{field})
		if err != nil {
			t.Fatal(err)
		}
		found, err := source.Facets(t.Context(), &query.FacetRequest{Request: req, Fields: []int{0}, Buckets: query.MaxBuckets})
		if err != nil {
			t.Fatal(err)
		}
		got, want := maps.NewSpread(&field, found.Fields[0]), maps.NewExactSpread(slices.Clone(values))
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
		if got.Known != want.Known || got.Least != want.Least || got.Greatest != want.Greatest || got.First > want.First || got.Last < want.Last ||
			want.First-got.First > tolerance || got.Last-want.Last > tolerance {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
