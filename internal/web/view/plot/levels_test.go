package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestLevels checks that the ranges of the legend of a heat map cover its values, and that a value
// has the color of its range.
func TestLevels(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		low, high float64
		want      string // ends of the ranges
	}{
		{"counts", 0, 97, "0 20 40 60 80 100"},
		{"few", 0, 1, "0 0.2 0.4 0.6 0.8 1"},
		{"above zero", 61, 97, "60 70 80 90 100"},
		{"negative", -30, 12, "-30 -20 -10 0 10 20"},
		{"not aligned", 9, 51, "0 10 20 30 40 50 60"},
		{"equal", 5, 5, "5 5.2 5.4 5.6 5.8 6"},
		{"huge", -math.MaxFloat64, math.MaxFloat64, ""},
		{"tiny", 1, 1 + 1e-15, ""},
	} {
		l := newLevels(tt.low, tt.high)
		var ends []string
		for _, end := range l {
			ends = append(ends, fmt.Sprintf("%.4g", end))
		}
		if got := strings.Join(ends, " "); tt.want != "" && got != tt.want {
			t.Errorf("%s: the ranges end at %s, want %s", tt.name, got, tt.want)
		}
		if n := l.len(); n < 1 || n > maxLevels || n != len(l)-1 {
			t.Errorf("%s: %d ranges of %d ends", tt.name, n, len(l))
		}
		var seen []string
		for i := range l.len() {
			class := l.class(i)
			if slices.Contains(seen, class) {
				t.Errorf("%s: two ranges have the color %s", tt.name, class)
			}
			seen = append(seen, class)
			for _, v := range []float64{l[i], l[i] + (l[i+1]-l[i])/2} {
				if got := l.classOf(Cell{Value: v, Known: true}); got != class && v != 0 {
					t.Errorf("%s: %v has the color %s, its range %s", tt.name, v, got, class)
				}
			}
		}
		if got := l.classOf(Cell{Value: l[len(l)-1], Known: true}); got != seen[len(seen)-1] {
			t.Errorf("%s: the end has the color %s", tt.name, got)
		}
	}
	if l := newLevels(-10, 10); l.classOf(Cell{Known: true}) == noneClass ||
		newLevels(0, 10).classOf(Cell{Known: true}) != noneClass {
		t.Error("zero among negative numbers is a value; of others it is none")
	}
}

// TestLegend checks that the legend of a heat map names the ends of the ranges, with the colors of
// the cells, and stays within the chart.
func TestLegend(t *testing.T) {
	t.Parallel()
	d := Data{Groups: []Group{{Label: "a"}, {Label: "b"}}, Series: []Series{
		{Name: "x", Cells: []Cell{{Value: 3, Known: true}, {Value: 55, Known: true}}},
		{Name: "y", Cells: []Cell{{Value: 97, Known: true}, {}}},
	}, FromZero: true, Unit: "kg"}
	for _, width := range []float64{140, 336, 1000} {
		f := Draw(Heat, d, width)
		var cells []string
		for _, s := range f.Shapes[:4] {
			cells = append(cells, s.Class)
		}
		if got, want := strings.Join(cells, ","), "cell h1,cell h6,cell h4,cell none"; got != want {
			t.Errorf("the cells are %s, want %s", got, want)
		}
		var legend, ends []string
		for _, s := range f.Shapes[4:] {
			legend = append(legend, s.Class)
		}
		if got, want := strings.Join(legend, ","), "cell h1,cell h2,cell h4,cell h5,cell h6,cell none"; got != want {
			t.Errorf("the legend is %s, want %s", got, want)
		}
		for _, text := range f.Texts[4:] {
			ends = append(ends, text.Text)
			if half := TextWidth(text.Text, textSize) / 2; text.X-half < -1 || text.X+half > width+1 {
				t.Errorf("%q is at %v of %v", text.Text, text.X, width)
			}
		}
		if got, want := strings.Join(ends, ","), "100 kg,80,60,40,20,0,none"; width > 140 &&
			got != strings.ReplaceAll(want, " ", "\u00a0") {
			t.Errorf("at %v, the legend names %s, want %s", width, got, want)
		}
	}
}
