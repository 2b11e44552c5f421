package plot_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/web/view/plot"
)

func TestTicks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		low, high float64
		count     int
		want      string
	}{
		{0, 740, 4, "0 200 400 600 800"}, {0, 27, 4, "0 10 20 30"}, {0, 1, 5, "0 0.2 0.4 0.6 0.8 1.0"},
		{0, 0, 4, "0 0.5 1.0"},
		{-12, 31, 4, "−20 0 20 40"}, {0, 6356, 4, "0 2,000 4,000 6,000 8,000"},
		{0, 84_000, 4, "0 50\u00a0k 100\u00a0k"}, {0, 3_200_000, 4, "0 1\u00a0M 2\u00a0M 3\u00a0M 4\u00a0M"},
		{1003, 1021, 4, "1,000 1,005 1,010 1,015 1,020 1,025"}, {0, 0.0031, 4, "0 0.001 0.002 0.003 0.004"},
		{0, 2.4e9, 4, "0 1\u00a0B 2\u00a0B 3\u00a0B"},
	} {
		ticks := plot.Ticks(tt.low, tt.high, tt.count)
		if got := strings.Join(plot.FormatTicks(ticks), " "); got != tt.want {
			t.Errorf("%v to %v: %s, want %s", tt.low, tt.high, got, tt.want)
		}
		if ticks[0] > tt.low || ticks[len(ticks)-1] < tt.high {
			t.Errorf("%v to %v: ticks %v do not cover the range", tt.low, tt.high, ticks)
		}
	}
}

func TestWithUnit(t *testing.T) {
	t.Parallel()
	for _, tt := range [][3]string{{"5", "", "5"}, {"5", "€", "5\u00a0€"}, {"-5", "$", "-$5"}, {"5", "$", "$5"},
		{"5", "%", "5%"}} {
		if got := plot.WithUnit(tt[0], tt[1]); got != tt[2] {
			t.Errorf("%v: %q", tt, got)
		}
	}
}

// TestSpread checks that labels do not overlap, stay in their range if they fit, and keep their
// order.
func TestSpread(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]float64{30, 10, 50}, plot.Spread([]float64{30, 10, 50}, []float64{10, 10, 10}, 0,
		100)); diff != "" {
		t.Errorf("labels moved without need (-want +got)\n%s", diff)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		n := 1 + random.IntN(8)
		wanted, sizes := make([]float64, n), make([]float64, n)
		for i := range n {
			wanted[i], sizes[i] = random.Float64()*120-10, 2+random.Float64()*10
		}
		got := plot.Spread(wanted, sizes, 0, 100)
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return int(math.Copysign(1, got[a]-got[b])) })
		end := 0.0
		for _, i := range order {
			if got[i]-sizes[i]/2 < end-1e-6 {
				t.Fatalf("%v with sizes %v overlap or begin before 0: %v", wanted, sizes, got)
			}
			end = got[i] + sizes[i]/2
		}
		if end > 100+1e-6 {
			t.Fatalf("%v with sizes %v end at %v", wanted, sizes, end)
		}
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text  string
		width float64
		want  string
	}{{"shrub", 100, "shrub"}, {"a very long name of a category", 80, "a very lo…"}, {"日本語の名前", 30, "日…"},
		{"x", 0, "x…"}} {
		if got := plot.Clip(tt.text, 13, tt.width); got != tt.want {
			t.Errorf("%s in %v: %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}

func mark(_, _, _ int) plot.Mark { return plot.Mark{Title: "x"} }

// example returns data with groups and series of random values.
func example(groups, series int, intervals bool) plot.Data {
	random := rand.New(rand.NewPCG(3, uint64(groups*100+series)))
	d := plot.Data{Intervals: intervals, FromZero: true, Unit: "€", Mark: mark}
	for g := range groups {
		label := fmt.Sprintf("group %d of many", g)
		if intervals {
			label = fmt.Sprint(1900 + g)
		}
		d.Groups = append(d.Groups, plot.Group{
			Label: label, Importance: b2i(g%10 == 0) + b2i(g%50 == 0), At: float64(g), Next: float64(g + 1),
			Total: "1,234.50 €",
		})
	}
	for s := range series {
		one := plot.Series{Name: strings.Repeat("series ", s%4+1) + fmt.Sprint(s)}
		for range groups {
			v := math.Round(random.Float64() * 1000)
			one.Cells = append(one.Cells, plot.Cell{Value: v, Known: random.IntN(9) > 0, Text: fmt.Sprint(v)})
		}
		d.Series = append(d.Series, one)
	}
	return d
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestTextsDoNotOverlap checks all texts of charts of all kinds and sizes.
func TestTextsDoNotOverlap(t *testing.T) {
	t.Parallel()
	for _, kind := range []plot.Kind{plot.Bars, plot.Lines, plot.Stacked, plot.Grouped, plot.Heat} {
		for _, size := range [][2]int{{1, 1}, {2, 3}, {12, 4}, {20, 8}, {130, 6}, {1000, 1}} {
			for _, intervals := range []bool{true, false} {
				if (kind == plot.Bars) != (size[1] == 1) || !intervals && (kind == plot.Lines || size[0] > 100) {
					continue
				}
				for _, width := range []float64{372, 1000} {
					name := fmt.Sprintf("%s %v intervals=%v width %v", kind, size, intervals, width)
					checkTexts(t, name, plot.Draw(kind, example(size[0], size[1], intervals), width))
				}
			}
		}
	}
}

// labelsBelow returns the labels of the axis of intervals.
func labelsBelow(f plot.Figure) string {
	var got []string
	for _, text := range f.Texts {
		if text.Anchor == "middle" {
			got = append(got, text.Text)
		}
	}
	return strings.Join(got, " | ")
}

// TestAxis_calendar checks that ticks are at the beginnings of years, quarters, months, weeks, days
// or hours, whichever groups there are, and that each year is named once.
func TestAxis_calendar(t *testing.T) {
	t.Parallel()
	day := func(year, month, day int) time.Time {
		return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	}
	for _, tt := range []struct {
		from, to time.Time
		next     func(time.Time) time.Time
		width    float64
		want     string
	}{
		{day(2006, 1, 3), day(2026, 4, 17), func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }, 1000,
			"2007 | 2008 | 2009 | 2010 | 2011 | 2012 | 2013 | 2014 | 2015 | 2016 | 2017 | 2018 | 2019 | 2020 | 2021 " +
				"| 2022 | 2023 | 2024 | 2025 | 2026"},
		{day(2006, 1, 3), day(2026, 4, 17), func(t time.Time) time.Time { return t.AddDate(0, 0, 3) }, 340,
			"2010 | 2015 | 2020 | 2025"},
		{day(2023, 1, 1), day(2025, 12, 1), func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }, 1000,
			"Jan 2023 | Apr | Jul | Oct | Jan 2024 | Apr | Jul | Oct | Jan 2025 | Apr | Jul | Oct"},
		{day(2023, 11, 1), day(2024, 3, 1), func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }, 1000,
			"Nov 2023 | Dec | Jan 2024 | Feb | Mar"},
		{day(2023, 12, 20), day(2024, 1, 20), func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }, 700,
			"25 Dec 2023 | 1 Jan 2024 | 8 Jan | 15 Jan"},
		{day(2016, 1, 1), day(2016, 10, 1), func(t time.Time) time.Time { return t.AddDate(0, 3, 0) }, 1000,
			"Q1 2016 | Q2 | Q3 | Q4"},
		{day(2016, 1, 1), day(2016, 1, 1), func(t time.Time) time.Time { return t.AddDate(0, 3, 0) }, 340, "Q1 2016"},
		{day(2024, 2, 29), day(2024, 3, 1), func(t time.Time) time.Time { return t.Add(time.Hour) }, 700,
			"29 Feb 2024 | 03:00 | 06:00 | 09:00 | 12:00 | 15:00 | 18:00 | 21:00 | 1 Mar"},
	} {
		d := plot.Data{Intervals: true, FromZero: true, Axis: plot.Axis{Zone: time.UTC}, Series: make([]plot.Series, 1)}
		for at := tt.from; !at.After(tt.to); at = tt.next(at) {
			d.Groups = append(d.Groups,
				plot.Group{Label: "?", At: float64(at.Unix()), Next: float64(tt.next(at).Unix())})
			d.Series[0].Cells = append(d.Series[0].Cells, plot.Cell{Value: 1, Known: true})
		}
		if got := labelsBelow(plot.Draw(plot.Lines, d, tt.width)); got != tt.want {
			t.Errorf("%v to %v in %v pixels:\n%s, want\n%s", tt.from, tt.to, tt.width, got, tt.want)
		}
	}
}

// TestAxis_numbers checks that ticks of histograms are at the edges that they name, and that years
// have no separators.
func TestAxis_numbers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		from, width float64
		count       int
		plain       bool
		want        string
	}{
		{0, 5, 8, false, "0 | 5 | 10 | 15 | 20 | 25 | 30 | 35 | 40"}, {-14, 7, 4, false, "−14 | −7 | 0 | 7 | 14"},
		{0, 7, 60, false, "0 | 70 | 140 | 210 | 280 | 350 | 420"},
		{1990, 1, 4, true, "1990 | 1991 | 1992 | 1993"},
		{1900, 1, 120, true, "1900 | 1920 | 1940 | 1960 | 1980 | 2000 | 2020"},
		{0, 1e12, 4, false, "0 | 1\u00a0T | 2\u00a0T | 3\u00a0T | 4\u00a0T"},
	} {
		d := plot.Data{Intervals: true, FromZero: true, Mark: mark, Axis: plot.Axis{Width: tt.width, Plain: tt.plain},
			Series: make([]plot.Series, 1)}
		for i := range tt.count {
			at := tt.from + float64(i)*tt.width
			d.Groups = append(d.Groups, plot.Group{Label: "?", At: at, Next: at + tt.width})
			d.Series[0].Cells = append(d.Series[0].Cells, plot.Cell{Value: 1, Known: true})
		}
		f := plot.Draw(plot.Bars, d, 500)
		if got := labelsBelow(f); got != tt.want {
			t.Errorf("%d intervals of %v from %v: %s, want %s", tt.count, tt.width, tt.from, got, tt.want)
		}
		edges := map[string]bool{}
		for _, h := range f.Hits {
			edges[strings.Fields(h.Path)[0]] = true // M and the left edge
		}
		for _, text := range f.Texts {
			if v, err := strconv.Atoi(text.Text); text.Anchor == "middle" && err == nil &&
				v < int(tt.from)+tt.count*int(tt.width) && v > int(tt.from) && !tt.plain &&
				!edges["M"+fmt.Sprint(text.X)] {
				t.Errorf("the tick %s at %v is not at an edge: %v", text.Text, text.X, edges)
			}
		}
	}
}

// TestThin checks that a chart with more groups than pixels keeps the largest values and says so.
func TestThin(t *testing.T) {
	t.Parallel()
	for _, kind := range []plot.Kind{plot.Bars, plot.Lines, plot.Heat} {
		d := example(100_000, 1, true)
		d.Axis.Width = 1
		d.Series[0].Cells[77_777] = plot.Cell{Value: 5000, Known: true}
		f := plot.Draw(kind, d, 1000)
		size := 0
		for _, s := range f.Shapes {
			size += len(s.Path)
		}
		if !f.Thinned || len(f.Hits) > 500 || size > 100_000 {
			t.Errorf("%s: thinned %v, %d hits, %d bytes", kind, f.Thinned, len(f.Hits), size)
		}
		if small := plot.Draw(kind, example(300, 1, true), 1000); small.Thinned {
			t.Errorf("%s of 300 groups is thinned", kind)
		}
	}
}

type box struct {
	x0, x1, y0, y1 float64
	text           string
}

func checkTexts(t *testing.T, name string, f plot.Figure) {
	t.Helper()
	var boxes []box
	for _, text := range f.Texts {
		size := 12.0
		if strings.Contains(text.Class, "name") || text.Class == "label" || text.Class == "value" {
			size = 13
		}
		width := plot.TextWidth(text.Text, size)
		b := box{text.X, text.X + width, text.Y - size*0.75, text.Y, text.Text}
		switch text.Anchor {
		case "middle":
			b.x0, b.x1 = text.X-width/2, text.X+width/2
		case "end":
			b.x0, b.x1 = text.X-width, text.X
		}
		if b.x0 < -1 || b.x1 > f.Width+1 || b.y0 < -1 || b.y1 > f.Height+1 {
			t.Errorf("%s: %q is outside the chart: %+v of %v × %v", name, text.Text, b, f.Width, f.Height)
		}
		for _, o := range boxes {
			if b.x0 < o.x1-1 && o.x0 < b.x1-1 && b.y0 < o.y1-1 && o.y0 < b.y1-1 {
				t.Errorf("%s: %q overlaps %q", name, b.text, o.text)
			}
		}
		boxes = append(boxes, b)
	}
	if len(f.Hits) == 0 || len(f.Shapes) == 0 {
		t.Errorf("%s: %d shapes, %d hits", name, len(f.Shapes), len(f.Hits))
	}
}

// TestLines checks that lines have gaps where values are missing or intervals are not adjacent.
func TestLines(t *testing.T) {
	t.Parallel()
	at := func(from ...float64) (groups []plot.Group) {
		for _, f := range from {
			groups = append(groups, plot.Group{Label: fmt.Sprint(f), At: f, Next: f + 1})
		}
		return groups
	}
	for _, tt := range []struct {
		groups  []plot.Group
		missing int
		moves   int // starts of lines
		dots    int
	}{
		{at(0, 1, 2, 3), -1, 1, 0}, {at(0, 1, 2, 3), 2, 1, 1}, {at(0, 1, 5, 6), -1, 2, 0}, {at(0), -1, 0, 1},
		{at(0, 1, 2, 3), 0, 1, 0},
	} {
		cells := make([]plot.Cell, len(tt.groups))
		for i := range cells {
			cells[i] = plot.Cell{Value: float64(i), Known: i != tt.missing}
		}
		f := plot.Draw(plot.Lines, plot.Data{Groups: tt.groups, Intervals: true, Gaps: true,
			Series: []plot.Series{{Cells: cells}}}, 500)
		moves, dots := 0, 0
		for _, s := range f.Shapes {
			if strings.HasPrefix(s.Class, "curve dot") {
				dots += strings.Count(s.Path, "h")
			} else if strings.HasPrefix(s.Class, "curve") {
				moves += strings.Count(s.Path, "M")
			}
		}
		if moves != tt.moves || dots != tt.dots {
			t.Errorf("%v without %d: %d lines and %d dots, want %d and %d", tt.groups, tt.missing, moves, dots,
				tt.moves, tt.dots)
		}
	}
}

// TestScale checks that bars begin at zero, and that lines need not.
func TestScale(t *testing.T) {
	t.Parallel()
	d := plot.Data{Intervals: true, Groups: []plot.Group{{Label: "a", At: 0, Next: 1}, {Label: "b", At: 1, Next: 2}}}
	d.Series = []plot.Series{{Cells: []plot.Cell{{Value: 1003, Known: true}, {Value: 1021, Known: true}}}}
	first := func() string { return plot.Draw(plot.Lines, d, 500).Texts[0].Text }
	if got := first(); got != "1,000" {
		t.Errorf("the scale of a line begins at %s", got)
	}
	d.FromZero = true
	if got := first(); got != "0" {
		t.Errorf("the scale begins at %s", got)
	}
	negative := plot.Data{Groups: d.Groups, FromZero: true,
		Series: []plot.Series{{Cells: []plot.Cell{{Value: -5, Known: true, Text: "-5"},
			{Value: 5, Known: true, Text: "5"}}}}}
	f := plot.Draw(plot.Bars, negative, 500)
	if f.Shapes[0].Path == f.Shapes[1].Path || strings.Contains(fmt.Sprint(f.Shapes), "NaN") {
		t.Errorf("bars of negative values: %v", f.Shapes)
	}
}

func TestSmall(t *testing.T) {
	t.Parallel()
	for _, kind := range []plot.Kind{plot.Bars, plot.Lines, plot.Heat} {
		for _, intervals := range []bool{true, false} {
			f := plot.Small(kind, example(30, 6, intervals))
			if len(f.Shapes) == 0 || len(f.Texts) > 0 || f.Width != 124 {
				t.Errorf("%s: %+v", kind, f)
			}
		}
	}
	if f := plot.Small(plot.Bars, plot.Data{}); len(f.Shapes) > 0 {
		t.Errorf("without data: %+v", f)
	}
}
