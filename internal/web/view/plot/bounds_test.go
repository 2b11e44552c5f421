package plot_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/web/view/plot"
)

// extremes returns numbers at the edges of floating point.
func extremes() []float64 {
	positive := []float64{
		math.SmallestNonzeroFloat64, 1e-308, 1e-300, 1e-9, 0.1, 1, 1e9, 2e15, 1 << 53, 1234567890123456789, 1e18, 1e19,
		1e100, 1e300, 1e307, 1e308, math.MaxFloat64,
	}
	all := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1)}
	for _, x := range positive {
		all = append(all, x, -x, math.Nextafter(x, math.Inf(1)), math.Nextafter(x, 0))
	}
	return all
}

// checkTicks checks that ticks are few, ascend, cover the range as far as it can be drawn, and have
// distinct labels.
func checkTicks(t *testing.T, low, high float64, count int) {
	t.Helper()
	const most, edge = 100, 1e300
	ticks := plot.Ticks(low, high, count)
	name := fmt.Sprintf("%v to %v by %d", low, high, count)
	if len(ticks) < 2 || len(ticks) > most {
		t.Fatalf("%s: %d ticks", name, len(ticks))
	}
	step := ticks[1] - ticks[0]
	for i, tick := range ticks {
		if math.IsNaN(tick) || math.IsInf(tick, 0) || i > 0 && !(tick > ticks[i-1]) {
			t.Fatalf("%s: ticks %v", name, ticks)
		}
	}
	if !math.IsNaN(low) && ticks[0] > max(low, -edge)+step/100 && low < edge {
		t.Errorf("%s: ticks begin at %v", name, ticks[0])
	}
	if !math.IsNaN(high) && high > low && ticks[len(ticks)-1] < min(high, edge)-step/100 {
		t.Errorf("%s: ticks end at %v", name, ticks[len(ticks)-1])
	}
	labels := plot.FormatTicks(ticks)
	for i, l := range labels {
		if len(l) > 40 || strings.Contains(l, "NaN") || strings.Contains(l, "Inf") || i > 0 && l == labels[i-1] {
			t.Fatalf("%s: labels %q", name, labels)
		}
	}
}

// TestTicks_extremes checks all pairs of extreme numbers, and random bits as numbers.
func TestTicks_extremes(t *testing.T) {
	t.Parallel()
	for _, low := range extremes() {
		for _, high := range extremes() {
			for _, count := range []int{math.MinInt, 0, 4, 1e6} {
				checkTicks(t, low, high, count)
			}
		}
	}
	random := rand.New(rand.NewPCG(5, 6))
	for range 3_000 {
		low := math.Float64frombits(random.Uint64())
		checkTicks(t, low, math.Float64frombits(random.Uint64()), random.IntN(20))
		checkTicks(t, low, math.Nextafter(low, math.Inf(1)), random.IntN(20))
		checkTicks(t, low, low, random.IntN(20))
	}
}

func FuzzTicks(f *testing.F) {
	f.Add(0.0, 1.0, 4)
	f.Add(1234567890123456789.0, 1234567890123456789.0, 5)
	f.Add(-math.MaxFloat64, math.MaxFloat64, 1000)
	f.Fuzz(func(t *testing.T, low, high float64, count int) {
		checkTicks(t, low, high, count)
		if step := plot.Step(low); !(step > 0) || math.IsInf(step, 0) {
			t.Errorf("the step of %v is %v", low, step)
		}
	})
}

// checkFigure draws all charts of some values and checks that coordinates are numbers and that the
// chart is not larger than its data.
func checkFigure(t *testing.T, values []float64, label string) {
	t.Helper()
	for _, intervals := range []bool{true, false} {
		for _, fromZero := range []bool{true, false} {
			d := plot.Data{Intervals: intervals, FromZero: fromZero, Unit: "€", Mark: mark}
			for i, v := range values {
				at := float64(i)
				if i%2 == 0 {
					at = v
				}
				d.Groups = append(d.Groups, plot.Group{Label: label, Total: label, At: at, Next: v, Importance: i % 3})
			}
			for s := range 2 {
				cells := make([]plot.Cell, len(values))
				for i, v := range values {
					cells[i] = plot.Cell{Value: v, Known: (i+s)%5 != 4, Text: label}
				}
				d.Series = append(d.Series, plot.Series{Name: label, Cells: cells})
			}
			for _, kind := range []plot.Kind{plot.Bars, plot.Lines, plot.Stacked, plot.Grouped, plot.Heat} {
				checkSize(t, plot.Draw(kind, d, 372), len(values))
				checkSize(t, plot.DrawIn(kind, d, 700, 150), len(values))
				checkSize(t, plot.Small(kind, d), len(values))
			}
		}
	}
}

func checkSize(t *testing.T, f plot.Figure, groups int) {
	t.Helper()
	if len(f.Shapes) > 200+4*groups || len(f.Texts) > 200+4*groups || math.IsNaN(f.Height) || math.IsInf(f.Height, 0) {
		t.Fatalf("%d groups: %d shapes, %d texts, height %v", groups, len(f.Shapes), len(f.Texts), f.Height)
	}
	for _, s := range f.Shapes {
		if strings.Contains(s.Path, "NaN") || strings.Contains(s.Path, "Inf") || len(s.Path) > 100+100*groups {
			t.Fatalf("shape %s", s.Path)
		}
	}
	for _, text := range f.Texts {
		if math.IsNaN(text.X+text.Y) || math.IsInf(text.X+text.Y, 0) || len(text.Text) > 10_000 {
			t.Fatalf("text of %d bytes at %v, %v", len(text.Text), text.X, text.Y)
		}
	}
}

// TestDraw_extremes draws charts of extreme numbers, alone and together, with long labels.
func TestDraw_extremes(t *testing.T) {
	t.Parallel()
	all, long := extremes(), strings.Repeat("a long label ", 200_000)
	checkFigure(t, all, "x")
	slices.SortFunc(all, func(a, b float64) int { return int(math.Copysign(1, a-b)) })
	checkFigure(t, all, "x")
	for _, v := range all {
		checkFigure(t, []float64{v}, "x")
		checkFigure(t, []float64{v, v, v}, "x")
	}
	checkFigure(t, []float64{1, 2, 3}, long)
}

func FuzzDraw(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, "name")
	f.Add(1234567890123456789.0, 1234567890123456789.0, math.Inf(1), strings.Repeat("日", 2000))
	f.Fuzz(func(t *testing.T, a, b, c float64, label string) { checkFigure(t, []float64{a, b, c}, label) })
}

// TestClip_long checks that long texts are cut after a number of characters, whatever the width.
func TestClip_long(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 1<<20)
	if got := plot.Clip(long, 13, math.Inf(1)); len(got) > 3_000 {
		t.Errorf("%d bytes remain", len(got))
	}
	if plot.TextWidth(long, 13) != plot.TextWidth(long[:1<<20], 13) {
		t.Error("all of a long text is measured")
	}
	if got := plot.Clip("\xff\xfe\xff", 13, 12); got != "\xff…" {
		t.Errorf("%q", got)
	}
}

func FuzzClip(f *testing.F) {
	f.Add("a very long name", 13.0, 80.0)
	f.Add("\xff日", 13.0, 0.0)
	f.Fuzz(func(t *testing.T, s string, size, width float64) {
		got := plot.Clip(s, size, width)
		if kept, cut := strings.CutSuffix(got, "…"); got != s && (!cut || !strings.HasPrefix(s, kept)) {
			t.Errorf("%q becomes %q", s, got)
		}
	})
}

func FuzzSpread(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, 0.0, 100.0)
	f.Fuzz(func(t *testing.T, a, b, size, low, high float64) {
		if got := plot.Spread([]float64{a, b, a}, []float64{size, size, b}, low, high); len(got) != 3 {
			t.Errorf("%v", got)
		}
	})
}
