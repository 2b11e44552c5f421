// Package distributions draws the distribution of the values of a column, for the heads of columns.
package distributions

import (
	"cmp"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/filters"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/state"
)

// The size of distributions.
const (
	Buckets   = 20 // of a histogram, at most
	Values    = 5  // of a proportion bar, at most, besides the rest
	barHeight = 30
	barWidth  = 100
	maxBound  = 60 // characters of the smallest and the largest value
)

// Distribution is the distribution of a column over the rows of a listing, in its header. That over
// all rows is drawn behind it.
type Distribution struct {
	query.Facet
	Index       int    // of the field
	Kind        string // "hist", "cat", "note", or over all rows "fixed" or "words"; empty: not counted
	Note        string // instead of a picture
	Left, Right string // labels
	Bars        []Bar
	Range       string // link that filters by the range of several bars, see state.RangeHref; empty: Bars do not filter
	Proportions []Proportion
	Chosen      bool         // the field is filtered by values
	Ghosts      []Proportion // over all rows; none: the listing contains all rows
	Words       []TopWord
	Exceptions  *Exceptions // nil: none
	Filtered    bool        // the listing does not contain all rows that the distribution shows
}

// Bar is a bucket of a histogram.
type Bar struct {
	query.Bucket
	Height, Ghost int    // of the bar, and of the one over all rows
	Out           bool   // outside the range that the field is filtered by
	Href, Label   string // filters by the bucket; empty: the script does
	Range         string // instead of Distribution.Range if the bar is the last one of the range
}

// Top returns the vertical position of a bar with a height.
func (b Bar) Top(height int) int { return barHeight - height }

// HeightShare returns a height of the bar as a share of the highest one.
func (b Bar) HeightShare(height int) float64 { return float64(height) / barHeight }

// Proportion is a value in a proportion bar.
type Proportion struct {
	query.ValueCount
	X, Width float64
	Label    string // of the link
	Href     string // filters by the value; empty: all other values
	Number   int    // from 1
	Active   bool   // the field is filtered by the value
}

// noteOf returns the note for a column of which no distribution is drawn: its values are unique, or
// nearly so.
func noteOf(d *columns.Dataset, i int) (note string, ok bool) {
	f, c, kind := d.Fields[i], d.Meanings[i].Report, d.Meanings[i].Kind
	isUnique := c != nil && c.Distinct == c.Filled && c.Filled > Buckets
	isImage := c != nil && kind == columns.KindImage
	switch {
	case !f.Filterable:
		return "", true
	case d.Meanings[i].Mode == columns.ModeRange && !(isUnique && kind == columns.KindCode):
		return "", false
	case isUnique:
		return "unique", true
	case !isImage && d.Meanings[i].Mode == columns.ModeValues:
		return "", false
	case !isImage && c.Longest > columns.LongText:
		return "free text", true
	}
	return herb.Plural(c.Distinct, "value", "values"), true
}

// New returns the distribution of a column: one from the publish report if it has one, a note with
// the figures of the report if none is drawn, else without a kind, to be counted.
func New(s *state.State, i int) Distribution {
	c := Distribution{Index: i, Exceptions: NewExceptions(s, i)}
	note, ok := noteOf(s.Dataset, i)
	if c.setReported(s, note) || !ok {
		return c
	}
	c.Kind, c.Note = "note", note
	c.setTotals(s.Dataset)
	return c
}

// setTotals sets the figures of the publish report.
func (c *Distribution) setTotals(d *columns.Dataset) {
	c.Total = d.Records
	if r := d.Meanings[c.Index].Report; r != nil {
		c.Empty, c.Distinct, c.Min, c.Max = r.Empty, r.Distinct, herb.Clip(r.Min, maxBound), herb.Clip(r.Max, maxBound)
	}
}

// SetCounts draws the distribution.
func (c *Distribution) SetCounts(s *state.State, facet query.Facet) {
	c.Facet = facet
	switch {
	case len(facet.Histogram)+len(facet.Values) == 0:
		c.Kind, c.Note = "note", "no values"
	case s.Dataset.Meanings[c.Index].Mode == columns.ModeRange:
		c.setHistogram(s)
	default:
		c.setProportions(s)
	}
}

// SetGhosts sets what is drawn behind it: the distribution over all rows, whose buckets are
// the same.
func (c *Distribution) SetGhosts(s *state.State, all query.Facet) {
	if c.Kind == "cat" {
		c.Ghosts = proportions(s, c.Index, all)
	}
	if len(all.Histogram) == len(c.Bars) {
		for k, ghost := range newBars(all.Histogram) {
			c.Bars[k].Ghost = ghost.Height
		}
	}
}

func (c *Distribution) setHistogram(s *state.State) {
	last, form := len(c.Histogram)-1, filters.NewFilter(s, c.Index)
	c.Kind = "hist"
	c.Left, c.Right = rangeLabels(&form.Column, c.Histogram)
	c.Bars = newBars(c.Histogram)
	c.Range, c.Bars[last].Range = s.RangeHref(upperOp(false), c.Index), s.RangeHref(upperOp(true), c.Index)
	for k := range c.Bars {
		b := &c.Bars[k]
		b.Out = !covers(&form, b.Bucket)
		if s.Distributions {
			b.Href = bucketHref(s, c.Index, b.Bucket, k == last)
			b.Label = columns.FormatOperand(&form.Column, b.From) + " – " + columns.FormatOperand(&form.Column, b.To) +
				": " + herb.Plural(b.Count, "row", "rows")
		}
	}
}

// rangeLabels returns the ends of a histogram in little space.
func rangeLabels(c *columns.Column, buckets []query.Bucket) (left, right string) {
	left, right = shortEnd(c, buckets[0].From), shortEnd(c, buckets[len(buckets)-1].To)
	for range 2 { // the ends of whole months and years
		shortLeft, okLeft := strings.CutSuffix(left, "-01")
		shortRight, okRight := strings.CutSuffix(right, "-01")
		if okLeft && okRight {
			left, right = shortLeft, shortRight
		}
	}
	if left == right { // such as latitudes of a city
		left, right = columns.FormatOperand(c, buckets[0].From), columns.FormatOperand(c, buckets[len(buckets)-1].To)
	}
	return left, right
}

// shortEnd formats the end of a histogram in little space. Short codes keep their digits.
func shortEnd(c *columns.Column, value string) string {
	switch {
	case c.IsCode && len(value) <= format.LongNumber:
		return value
	case c.Type == herb.TypeNumber:
		canonical, status := text.Operand(&c.Field, value)
		if status != text.Valid {
			return herb.Clip(value, format.LongNumber)
		}
		return format.Compact(canonical)
	case c.Type == herb.TypeDuration:
		return format.CompactDuration(value)
	}
	day, _, _ := strings.Cut(format.Time(&c.Field, value), " ")
	return day
}

// upperOp returns the operator of the upper end of a bucket.
func upperOp(last bool) query.Op {
	if last {
		return query.OpLte
	}
	return query.OpLt
}

// bucketHref returns the link that filters by a bucket.
func bucketHref(s *state.State, field int, b query.Bucket, last bool) string {
	name := s.Fields[field].Name
	return s.Href(s.WithoutFilters(field, query.RangeOps()...).With(
		query.Param{Name: query.FilterParam(name, query.OpGte), Value: b.From},
		query.Param{Name: query.FilterParam(name, upperOp(last)), Value: b.To}))
}

// newBars scales the counts of a histogram to the height of a bar. A bucket with a row is
// visible.
func newBars(buckets []query.Bucket) (bars []Bar) {
	highest := 1
	for _, b := range buckets {
		highest = max(highest, b.Count)
	}
	for _, b := range buckets {
		bars = append(bars, Bar{Bucket: b, Height: (b.Count*barHeight + highest - 1) / highest})
	}
	return bars
}

// covers reports whether a bucket lies within the entered range. Without a range, every bucket
// does.
func covers(f *filters.Filter, b query.Bucket) bool {
	low, okLow := columns.BoundKey(&f.Field, f.From)
	high, okHigh := columns.BoundKey(&f.Field, f.To)
	from, _ := columns.BoundKey(&f.Field, b.From)
	to, _ := columns.BoundKey(&f.Field, b.To)
	return !(okLow && to <= low) && !(okHigh && from > high)
}

func (c *Distribution) setProportions(s *state.State) {
	c.Kind, c.Proportions = "cat", proportions(s, c.Index, c.Facet)
	c.Chosen = slices.ContainsFunc(s.Conditions(c.Index), func(c state.FieldFilter) bool { return c.Op == query.OpEq })
	top := c.Values[0]
	shown := s.Dataset.Shown(c.Index, top.Value)
	c.Left, c.Right = shown+" "+format.Percent(top.Count, c.Total), herb.Plural(c.Distinct, "value", "values")
}

// proportions returns the most frequent values with widths in proportion to their counts, and all
// others as the last proportion.
func proportions(s *state.State, field int, facet query.Facet) (all []Proportion) {
	values := facet.Values[:min(len(facet.Values), Values)]
	counted := 0
	for _, v := range values {
		counted += v.Count
	}
	rest := max(facet.Total-facet.Empty-counted, 0)
	if s.Fields[field].Type == herb.TypeList { // a row has several elements, so that they do not add up to the rows
		rest = 0
	}
	whole := float64(max(counted+rest, 1))
	x := 0.0
	add := func(p Proportion) {
		p.X, p.Width, p.Number = x, round(barWidth*float64(p.Count)/whole), len(all)+1
		x = round(x + p.Width)
		all = append(all, p)
	}
	for _, v := range values {
		v.Label = s.Dataset.Meanings[field].Categories.Label(v.Value)
		p := Proportion{ValueCount: v, Label: cmp.Or(v.Label, v.Value) + ": " + herb.Plural(v.Count, "row", "rows")}
		if !v.Clipped { // else it is not a filter for the value
			var ps query.Params
			ps, p.Active = s.Toggle(field, v.Value)
			p.Href = s.Href(ps)
		}
		add(p)
	}
	if rest > 0 && facet.Distinct > len(values) {
		add(Proportion{ValueCount: query.ValueCount{Count: rest},
			Label: herb.Plural(facet.Distinct-len(values), "other value", "other values") + ": " +
				herb.Plural(rest, "row", "rows")})
	}
	return all
}

// Shown returns the value as a reader reads it: its category label, if it has one.
func (p Proportion) Shown() string { return cmp.Or(p.ValueCount.Label, p.Value) }

func round(x float64) float64 { return float64(int(10*x+.5)) / 10 }
