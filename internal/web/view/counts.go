package view

import (
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// FacetValues and FacetBuckets are how many values and histogram buckets a filter shows.
const (
	FacetValues  = 10
	FacetBuckets = 24
	barHeight    = 40
)

// Counts are the facet counts of a filter, over the rows that all other filters leave, so that values that are not
// selected can be compared with those that are.
type Counts struct {
	Values    []FacetValue
	Empty     *FacetValue // rows without a value; nil: none
	More      int         // values that are not shown
	Histogram []Bar
	Min, Max  string
}

// FacetValue is a value to select.
type FacetValue struct {
	Value  string
	Count  int // -1: unknown
	Share  int // of the most frequent value, in percent
	Href   string
	Active bool
}

// Bar is a bucket of a histogram.
type Bar struct {
	Y, Height int // of barHeight
	Label     string
	Href      string
	Active    bool
}

// SetCounts sets the facet counts of a filter and opens it.
func (f *Filter) SetCounts(s *State, facet query.Facet) {
	f.Open, f.Counts = true, &Counts{}
	highest := 1
	if f.Mode == ModeRange {
		highest = f.setHistogram(s, facet)
	} else {
		f.Counts.More = facet.Distinct - len(facet.Values)
		for _, v := range facet.Values {
			highest = max(highest, v.Count)
		}
		for _, v := range facet.Values {
			f.Counts.Values = append(f.Counts.Values, f.value(s, v.Value, v.Count, highest))
		}
		f.addSelected(s)
	}
	if facet.Empty > 0 {
		f.Counts.Empty = new(f.value(s, "", facet.Empty, highest))
	}
}

func (f *Filter) value(s *State, value string, count, highest int) FacetValue {
	ps, active := s.toggle(f.Index, value)
	return FacetValue{Value: value, Count: count, Share: min(100*count/highest, 100), Href: s.Href(ps), Active: active}
}

// addSelected adds values that are selected but not among the most frequent ones, so that they can be removed.
func (f *Filter) addSelected(s *State) {
	for _, c := range s.conditions()[f.Index] {
		shown := slices.ContainsFunc(f.Counts.Values, func(v FacetValue) bool { return v.Value == c.Value })
		if c.op == query.OpEq && c.Value != "" && !shown {
			f.Counts.Values = append(f.Counts.Values, f.value(s, c.Value, -1, 1))
		}
	}
}

// setHistogram sets the histogram of a range and returns the count of its highest bar.
func (f *Filter) setHistogram(s *State, facet query.Facet) (highest int) {
	f.Counts.Min, f.Counts.Max = f.format(facet.Min), f.format(facet.Max)
	highest = 1
	for _, b := range facet.Histogram {
		highest = max(highest, b.Count)
	}
	outside := s.withoutOps(f.Index, query.OpGte, query.OpGt, query.OpLte, query.OpLt)
	for i, b := range facet.Histogram {
		height := (b.Count*barHeight + highest - 1) / highest
		upper := query.OpLt
		if i == len(facet.Histogram)-1 {
			upper = query.OpLte
		}
		f.Counts.Histogram = append(f.Counts.Histogram, Bar{
			Y: barHeight - height, Height: height, Active: f.covers(b),
			Label: f.format(b.From) + " to " + f.format(b.To) + ": " + Plural(b.Count, "row", "rows"),
			Href: s.Href(outside.With(
				query.Param{Name: query.FilterParam(f.Name, query.OpGte), Value: b.From},
				query.Param{Name: query.FilterParam(f.Name, upper), Value: b.To})),
		})
	}
	return highest
}

// covers reports whether a bucket lies within the entered range. Without a range, every bucket does.
func (f *Filter) covers(b query.Bucket) bool {
	low, okLow := f.key(f.From)
	high, okHigh := f.key(f.To)
	from, _ := f.key(b.From)
	to, _ := f.key(b.To)
	return !(okLow && from < low) && !(okHigh && to > high)
}

// key returns the sort key of an operand.
func (f *Filter) key(operand string) (string, bool) {
	canonical, status := text.Operand(&f.Field, operand)
	if status != text.Valid {
		return "", false
	}
	return text.Key(f.Type, canonical)
}

func (f *Filter) format(s string) string {
	if f.Type == herb.TypeNumber {
		return Number(s)
	}
	_, shown := Time(&f.Field, s)
	return shown
}
