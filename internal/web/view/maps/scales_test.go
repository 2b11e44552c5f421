package maps_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/segmenttest"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/maps"
	"herbarium/internal/web/view/state"
)

// scalesOf returns the scales of a map whose points are colored and sized by a field.
func scalesOf(t *testing.T, typ herb.Type, values ...string) maps.Scales {
	t.Helper()
	d := herb.Dataset{Fields: []herb.Field{{Name: "v", Type: typ, Filterable: true}}, Records: len(values)}
	var records []herb.Record
	for _, v := range values {
		records = append(records, herb.Record{v})
	}
	all, err := query.Parse("", d.Fields)
	if err != nil {
		t.Fatal(err)
	}
	s := &state.State{Color: "v", Dataset: columns.Read(&d), Fields: d.Fields}
	if typ == herb.TypeNumber {
		s.Size = "v"
	}
	source := segmenttest.NewOracle(d.Fields, records)
	found, err := source.Facets(t.Context(), maps.ScaleRequest(s, all))
	if err != nil {
		t.Fatal(err)
	}
	var classes query.Aggregate
	if q := maps.ClassRequest(s, all); q != nil {
		classes, err = source.Aggregate(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
	}
	return maps.NewScales(s, found, classes, len(values))
}

// legend returns the keys of the colors.
func legend(s maps.Scales) string {
	var keys []string
	for _, k := range s.Color.Keys {
		keys = append(keys, k.Class+" "+k.Label)
	}
	return strings.Join(keys, ", ")
}

func repeat(n int, value func(i int) string) []string {
	values := make([]string, n)
	for i := range values {
		values[i] = value(i)
	}
	return values
}

func TestNewScales_color(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		typ    herb.Type
		values []string
		want   string
	}{
		{"named colors", herb.TypeText, []string{"Green", "Green", "Green", "none", "none", "red", "orange", ""},
			"s1 Green, s3 none, s2 orange, s7 red, s0 other, missing empty"},
		{"booleans", herb.TypeBoolean, []string{"true", "true", "false"}, "s1 true, s2 false, s0 other, missing empty"},
		{"distinct values", herb.TypeText, repeat(900, func(i int) string { return fmt.Sprintf("v%03d", i) }),
			"s1 v000, s2 v001, s3 v002, s4 v003, s5 v004, s6 v005, s7 v006, s0 other, missing empty"},
		{"no values", herb.TypeText, []string{"", ""}, "s0 other, missing empty"},
		{"numbers", herb.TypeNumber, repeat(100, func(i int) string { return fmt.Sprint(i) }),
			"q1 0 – 20, q2 20 – 40, q3 40 – 60, q4 60 – 80, q5 from 80, missing empty"},
		{"one number", herb.TypeNumber, []string{"7", "7"}, "q1 from 7, missing empty"},
		{"no numbers", herb.TypeNumber, []string{""}, "q1 any number, missing empty"},
		{"long numbers", herb.TypeNumber, []string{strings.Repeat("9", 1000), "1"}, "q1 from 1, missing empty"},
		{"only long numbers", herb.TypeNumber, []string{strings.Repeat("9", 1000), "-" + strings.Repeat("9", 1000)},
			"q1 any number, missing empty"},
		{"ties", herb.TypeNumber, repeat(100, func(i int) string { return fmt.Sprint(max(0, i-50)) }),
			"q1 0 – 10, q2 10 – 30, q4 from 30, missing empty"},
	} {
		if got := legend(scalesOf(t, tt.typ, tt.values...)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	if got := legend(scalesOf(t, herb.TypeText, strings.Repeat("x", 1000))); len(got) > 100 {
		t.Errorf("a long value gives the legend %s", got)
	}
}

// TestNewScales_classes checks that classes of numbers have about as many rows each, however skewed
// the numbers are, and that their bounds are as round as that allows.
func TestNewScales_classes(t *testing.T) {
	t.Parallel()
	const rows = 200
	for name, tt := range map[string]struct {
		number func(share float64) float64
		breaks string
	}{
		"skewed":   {func(x float64) float64 { return math.Expm1(7*x*x) / 2 }, "[0 0.19 1 6 50]"},
		"years":    {func(x float64) float64 { return math.Floor(1901 + 124*x) }, "[1900 1927 1950 1977 2000]"},
		"negative": {func(x float64) float64 { return -1e6 * math.Pow(1-x, 9) }, "[-1e+06 -110000 -10000 -200 -1]"},
		"tiny": {func(x float64) float64 { return 1e-9 * (1 + x*x) },
			"[1e-09 1.04e-09 1.17e-09 1.38e-09 1.66e-09]"},
		"huge": {func(x float64) float64 { return 1e300 * x }, "[0 2e+299 4e+299 6e+299 8e+299]"},
	} {
		values, numbers := make([]string, rows), make([]float64, rows)
		for i := range values {
			numbers[i] = tt.number((float64(i) + .5) / rows)
			values[i] = strconv.FormatFloat(numbers[i], 'f', -1, 64)
		}
		breaks := scalesOf(t, herb.TypeNumber, values...).Color.Breaks
		counts := make([]int, len(breaks))
		for _, n := range numbers {
			for k := len(breaks) - 1; k >= 0; k-- {
				if n >= breaks[k] || k == 0 {
					counts[k]++
					break
				}
			}
		}
		if fmt.Sprint(breaks) != tt.breaks || len(counts) != 5 || slices.Min(counts)*5 < rows*3/4 ||
			slices.Max(counts)*5 > rows*5/4 {
			t.Errorf("%s: classes from %v have %v of %d rows, want %s", name, breaks, counts, rows, tt.breaks)
		}
	}
}

func TestNewScales_size(t *testing.T) {
	t.Parallel()
	even := func(i int) string { return fmt.Sprint(10 + i%41) }
	for _, tt := range []struct {
		name      string
		values    []string
		low, high float64
		labels    string
	}{
		{"magnitudes", []string{"4.5", "5", "6", "9.1"}, 4.5, 9.1, "4.5, 6.8, 9.1"},
		{"from zero", []string{"10", "20", "4000000"}, 0, 4_000_000, "0, 2\u00a0M, 4\u00a0M"},
		{"negative", []string{"-10", "0", "30"}, -10, 30, "−10, 10, 30"},
		{"an extreme number", append(repeat(500, even), "1"+strings.Repeat("0", 30)), 0, 100, ""},
		{"a negative extreme number", append(repeat(500, even), "-1"+strings.Repeat("0", 30)), -1e30, 50, ""},
	} {
		size := scalesOf(t, herb.TypeNumber, tt.values...).Size
		if size == nil {
			t.Errorf("%s: no scale", tt.name)
			continue
		}
		var labels []string
		for _, k := range size.Keys {
			labels = append(labels, k.Label)
			if k.Radius < 1 || k.Radius > 15 {
				t.Errorf("%s: %s has the radius %v", tt.name, k.Label, k.Radius)
			}
		}
		if got := strings.Join(labels, ", "); tt.labels != "" &&
			(got != tt.labels || size.Low != tt.low || size.High != tt.high) || size.High < size.Low ||
			size.High > 1e29 {
			t.Errorf("%s: from %v to %v, %s; want %v to %v, %s", tt.name, size.Low, size.High, got, tt.low,
				tt.high, tt.labels)
		}
	}
	for name, values := range map[string][]string{
		"equal": {"3", "3"}, "none": {""}, "beyond numbers": {strings.Repeat("9", 400), "1"},
		"long numbers": {strings.Repeat("9", 1000), "1"},
	} {
		if s := scalesOf(t, herb.TypeNumber, values...); s.Size != nil && !(s.Size.Low < s.Size.High) {
			t.Errorf("%s: %+v", name, s.Size)
		} else if strings.Contains(s.Data(), "Inf") || s.Data() == "" {
			t.Errorf("%s: %s", name, s.Data())
		}
	}
}

// TestNewMap_scales checks the fields that a map offers for colors and sizes.
func TestNewMap_scales(t *testing.T) {
	t.Parallel()
	d := &herb.Dataset{Records: 1000, Coordinates: []herb.Coordinates{{Latitude: "lat", Longitude: "lon"}}}
	for _, f := range []struct {
		name     string
		typ      herb.Type
		distinct int
		longest  int
	}{
		{"name", herb.TypeText, 1000, 30}, {"lat", herb.TypeNumber, 1000, 5}, {"lon", herb.TypeNumber, 1000, 5},
		{"mag", herb.TypeNumber, 50, 3},
		{"alert", herb.TypeText, 4, 6}, {"year", herb.TypeNumber, 40, 4}, {"notes", herb.TypeText, 900, 2_000_000},
		{"day", herb.TypeDate, 300, 10},
	} {
		d.Fields = append(d.Fields, herb.Field{Name: f.name, Type: f.typ, Filterable: true})
		if d.Report == nil {
			d.Report = &herb.Report{}
		}
		d.Report.Columns = append(d.Report.Columns, herb.ColumnReport{Field: f.name, Distinct: f.distinct,
			Longest: f.longest, Filled: 1000})
	}
	read := columns.Read(d)
	menus := maps.NewMap(&state.State{Path: "/map", Size: "year", Dataset: read, Fields: d.Fields, Pin: -1},
		read.Pairs, 0,
		maps.NewFit(read, read.Pairs[0], maps.Spread{}, maps.Spread{}, &query.Request{}, maps.MapColumns, ""),
		query.Grid{}, maps.Scales{}, "", nil).Menus
	var got []string
	for _, m := range menus {
		for _, o := range m.Options {
			got = append(got, fmt.Sprint(m.Name, "=", o.Value, o.Selected))
		}
	}
	if want := []string{"_color=magfalse", "_color=alertfalse", "_size=magfalse",
		"_size=yeartrue"}; !slices.Equal(got, want) {
		t.Errorf("the menus are %q, want %q", got, want)
	}
	for name, want := range map[string][2]bool{"notes": {false, false}, "name": {true, false}, "mag": {true, true},
		"day": {false, false}} {
		i := herb.FieldIndex(d.Fields, name)
		if got := [2]bool{read.CanColor(i), read.CanSize(i)}; got != want {
			t.Errorf("%s: color and size are %v, want %v", name, got, want)
		}
	}
}
