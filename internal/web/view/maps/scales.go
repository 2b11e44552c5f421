package maps

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/state"
)

// Scales are the color and the size of the points of a map by fields. They describe all rows, so
// that a filter changes no color.
type Scales struct {
	Color *ColorScale // nil: all points have one color
	Size  *SizeScale  // nil: all points have one size
}

// ColorScale is the color of points by a field: the most frequent values of a category have
// colors of their own, numbers are divided into classes of about as many rows.
type ColorScale struct {
	Field   string         `json:"field"`
	Heading string         `json:"-"`
	Values  []string       `json:"values,omitempty"` // categories
	Breaks  []float64      `json:"breaks,omitempty"` // least numbers of the classes
	Boolean bool           `json:"boolean,omitempty"`
	Notes   numberNotation `json:"notation"`
	// Keys are the legend: of values or classes; of other values, if there are categories; and of
	// missing values.
	Keys []ColorKey `json:"-"`
}

// ColorKey is a color in the legend.
type ColorKey struct{ Class, Label string }

// SizeScale is the size of points by a number. Their areas are proportional to the distance from
// Low; numbers beyond the ends have the size of the end.
type SizeScale struct {
	Field    string         `json:"field"`
	Heading  string         `json:"-"`
	Low      float64        `json:"low"`
	High     float64        `json:"high"`
	Least    float64        `json:"least"` // radius in pixels
	Greatest float64        `json:"greatest"`
	Notes    numberNotation `json:"notation"`
	Keys     []SizeKey      `json:"-"`
}

// SizeKey is a size in the legend.
type SizeKey struct {
	Radius float64
	Label  string
}

// Side returns the width and the height of the circle in the legend.
func (k SizeKey) Side() float64 { return 2*k.Radius + 2 }

// numberNotation is what the script needs to read numbers as a file writes them.
type numberNotation struct {
	Decimal string   `json:"decimal,omitempty"`
	Group   string   `json:"group,omitempty"`
	Affix   string   `json:"affix,omitempty"`
	Missing []string `json:"missing,omitempty"`
}

// Limits of scales.
const (
	maxCategories = 7 // colors that can be told apart
	colorClasses  = 5
)

// radii returns the smallest and the largest radius of points in pixels: many points are smaller,
// so that they do not hide the map.
func radii(rows int) (least, greatest float64) {
	switch {
	case rows <= 500:
		return 2.5, 15
	case rows <= 5000:
		return 1.8, 11
	}
	return 1.2, 8
}

// ScaleRequest returns the request for what the scales of a map depend on: the fields that color
// and size its points. It is nil if there are none.
func ScaleRequest(s *state.State, all *query.Request) *query.FacetRequest {
	var fields []int
	for _, name := range []string{s.Color, s.Size} {
		if i := herb.FieldIndex(s.Fields, name); i >= 0 && !slices.Contains(fields, i) {
			fields = append(fields, i)
		}
	}
	if fields == nil {
		return nil
	}
	return &query.FacetRequest{Request: all, Fields: fields, Top: maxCategories, Buckets: query.MaxBuckets,
		Scale: query.ScaleAuto}
}

// ClassRequest returns the request for what divides the numbers that color the points into classes:
// the least number, and two percentiles around each bound. It is nil if no number does.
func ClassRequest(s *state.State, all *query.Request) *query.AggregateRequest {
	i := herb.FieldIndex(s.Fields, s.Color)
	if i < 0 || !hasClasses(&s.Fields[i]) {
		return nil
	}
	r := &query.AggregateRequest{Request: all, Top: 1}
	add := func(percent int) {
		name := "p" + strconv.Itoa(percent) + ":" + s.Color
		r.Measures = append(r.Measures, query.Measure{Name: name, Kind: query.MeasurePercentile, Percent: percent,
			Field: i, Divisor: -1})
	}
	add(0)
	for k := 1; k < colorClasses; k++ {
		const near = 2 // percent: a class has its share of the rows but for a fifth of it, unless many have one number
		add(100*k/colorClasses - near)
		add(100*k/colorClasses + near)
	}
	r.Returned = len(r.Measures)
	return r
}

// NewScales returns the scales of a number of rows on a map from the responses to ScaleRequest and
// ClassRequest.
func NewScales(s *state.State, found query.Facets, classes query.Aggregate, rows int) (scales Scales) {
	for _, facet := range found.Fields {
		i := herb.FieldIndex(s.Fields, facet.Field)
		if facet.Field == s.Color {
			scales.Color = newColorScale(s.Dataset, i, facet, classes)
		}
		if facet.Field == s.Size {
			scales.Size = newSizeScale(s.Dataset, i, facet, rows)
		}
	}
	return scales
}

// Data returns the scales as JSON for the script; empty: there are none.
func (s Scales) Data() string {
	if s.Color == nil && s.Size == nil {
		return ""
	}
	encoded, _ := json.Marshal(map[string]any{"color": s.Color, "size": s.Size}) // strings and finite numbers
	return string(encoded)
}

// hasClasses reports whether the values of a field are divided into classes. Each category has a
// color of its own.
func hasClasses(f *herb.Field) bool { return f.Type == herb.TypeNumber && len(f.Categories) == 0 }

func newNotation(f *herb.Field) numberNotation {
	n := f.Notation
	return numberNotation{n.Decimal, n.Group, n.Affix, n.Missing}
}

func newColorScale(d *columns.Dataset, i int, facet query.Facet, classes query.Aggregate) *ColorScale {
	f := &d.Fields[i]
	scale := &ColorScale{Field: f.Name, Heading: columns.Heading(*f), Boolean: f.Type == herb.TypeBoolean,
		Notes: newNotation(f)}
	if hasClasses(f) {
		scale.setClasses(d, i, classes)
	} else {
		scale.setCategories(d, i, facet)
	}
	scale.Keys = append(scale.Keys, ColorKey{"missing", "empty"})
	return scale
}

// setCategories gives the most frequent values colors. A value that is the name of a color has that
// color, if another one does not have it already.
func (c *ColorScale) setCategories(d *columns.Dataset, field int, facet query.Facet) {
	classes, used := make([]int, len(facet.Values)), [maxCategories + 1]bool{}
	for i, v := range facet.Values {
		if class := colorNames[strings.ToLower(strings.TrimSpace(v.Value))]; class > 0 && !used[class] {
			classes[i], used[class] = class, true
		}
	}
	for i, v := range facet.Values {
		for class := 1; classes[i] == 0; class++ {
			if !used[class] {
				classes[i], used[class] = class, true
			}
		}
		const longest = 40
		name := herb.Clip(format.PlainText(d.Shown(field, v.Value)), longest)
		c.Values, c.Keys = append(c.Values, v.Value), append(c.Keys, ColorKey{"s" + strconv.Itoa(classes[i]), name})
	}
	c.Keys = append(c.Keys, ColorKey{"s0", "other"})
}

// colorNames are the names of colors by their position in plot.Palette.
var colorNames = map[string]int{
	"green": 1, "brown": 2, "orange": 2, "blue": 3, "purple": 4, "violet": 4, "yellow": 5, "teal": 6, "cyan": 6,
	"pink": 7, "red": 7,
}

// setClasses divides numbers into classes of about as many rows, by the response to ClassRequest.
func (c *ColorScale) setClasses(d *columns.Dataset, i int, found query.Aggregate) {
	var labels []string
	add := func(low, high float64) {
		if math.IsInf(low, 0) || math.IsInf(high, 0) { // too many digits
			return
		}
		if least := roundBetween(low, high); len(c.Breaks) == 0 || least > c.Breaks[len(c.Breaks)-1] {
			c.Breaks, labels = append(c.Breaks, least), append(labels, formatNumber(d, i, least))
		}
	}
	if len(found.Rows) > 0 && found.Rows[0].Values[0] != "" {
		var numbers []float64
		for _, value := range found.Rows[0].Values {
			n, _ := strconv.ParseFloat(value, 64) // of too many digits: infinite
			numbers = append(numbers, n)
		}
		add(numbers[0]-(numbers[1]-numbers[0])/10, numbers[0])
		for k := 1; k < len(numbers); k += 2 {
			add(numbers[k], numbers[k+1])
		}
	}
	isKnown := c.Breaks != nil
	if !isKnown {
		c.Breaks, labels = []float64{-math.MaxFloat64}, []string{"any number"}
	}
	for k, label := range labels {
		if k+1 < len(labels) {
			label += " – " + labels[k+1]
		} else if isKnown {
			label = "from " + label
		}
		c.Keys = append(c.Keys, ColorKey{"q" + strconv.Itoa(1+k*colorClasses/len(labels)), label})
	}
}

// roundBetween returns the number with the fewest digits that is greater than low, and at most
// high. It is high if there is none.
func roundBetween(low, high float64) float64 {
	const most = 17 // digits
	if high <= low {
		return high
	}
	first := int(math.Log10(math.Max(math.Abs(low), math.Abs(high)))) + 1
	for power := first; power > first-most; power-- {
		rounded := math.Floor(high/math.Pow10(power)) * math.Pow10(power)
		if power < 0 { // a fraction of ten is not exact
			rounded = math.Floor(high*math.Pow10(-power)) / math.Pow10(-power)
		}
		if low < rounded && rounded <= high {
			return rounded
		}
	}
	return high
}

func newSizeScale(d *columns.Dataset, i int, facet query.Facet, rows int) *SizeScale {
	f := &d.Fields[i]
	spread := NewSpread(f, facet)
	low, high := spread.Least, spread.Greatest
	// A few extreme numbers do not make all other points equally small.
	const far = 10
	width := far * (spread.Last - spread.First)
	if !spread.Known || width > 0 && high-spread.Last > width {
		high = spread.Last
	}
	if !spread.Known || width > 0 && spread.First-low > width {
		low = spread.First
	}
	if low >= 0 && low < high/4 {
		low = 0 // areas are proportional to the numbers
	}
	if !(low < high) || math.IsInf(high-low, 0) {
		return nil
	}
	scale := &SizeScale{Field: f.Name, Heading: columns.Heading(*f), Low: low, High: high, Notes: newNotation(f)}
	scale.Least, scale.Greatest = radii(rows)
	for _, n := range []float64{low, (low + high) / 2, high} {
		label := formatNumber(d, i, n)
		if n == high && high < spread.Greatest || n == high && !spread.Known {
			label += " and more"
		}
		scale.Keys = append(scale.Keys, SizeKey{scale.radius(n), label})
	}
	return scale
}

// radius returns the radius of the point of a number in pixels. The script computes the same.
func (s *SizeScale) radius(n float64) float64 {
	share := math.Max(0, math.Min((n-s.Low)/(s.High-s.Low), 1))
	return math.Sqrt(s.Least*s.Least + share*(s.Greatest*s.Greatest-s.Least*s.Least))
}

// formatNumber formats a number for the legend. A code, such as a year, has all its digits.
func formatNumber(d *columns.Dataset, i int, n float64) string {
	plain := strconv.FormatFloat(n, 'f', -1, 64)
	if d.Meanings[i].IsCode {
		return herb.Clip(plain, format.LongNumber)
	}
	return format.Compact(plain)
}

// ScaleMenu is a choice of the field that colors or sizes points.
type ScaleMenu struct {
	Label, Name string // of the parameter
	Options     []ScaleOption
}

// ScaleOption is a field that can color or size points.
type ScaleOption struct {
	Value, Label string
	Selected     bool
}

// newScaleMenus returns the menus of the fields that color and size points: categories and
// quantities, and what the URL names.
func newScaleMenus(s *state.State, pairs []columns.Pair) (menus []ScaleMenu) {
	menu := func(label, param, selected string, isOffered func(i int) bool) {
		m := ScaleMenu{Label: label, Name: param}
		for i, f := range s.Fields {
			isPosition := slices.ContainsFunc(pairs, func(p columns.Pair) bool {
				return i == p.Latitude ||
					i == p.Longitude
			})
			if f.Name == selected || len(m.Options) < state.MaxOffered && !isPosition && isOffered(i) {
				m.Options = append(m.Options, ScaleOption{f.Name, herb.Clip(format.PlainText(columns.Heading(f)), 60),
					f.Name == selected})
			}
		}
		if m.Options != nil {
			menus = append(menus, m)
		}
	}
	d := s.Dataset
	isQuantity := func(i int) bool { return d.CanSize(i) && d.Meanings[i].Kind == columns.KindNumber }
	menu("Color", state.ParamColor, s.Color, func(i int) bool {
		if hasClasses(&d.Fields[i]) {
			return isQuantity(i)
		}
		return d.CanColor(i) && d.Meanings[i].Mode == columns.ModeValues && i != d.Naming
	})
	menu("Size", state.ParamSize, s.Size, isQuantity)
	return menus
}
