package view

import (
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Spark is a small chart of a dataset in the catalogue.
type Spark struct {
	Width int
	Bars  []Bar
}

// SparkColumn returns the position of the field whose distribution says most about a dataset: a date, else a number, those
// with repeated values first, else a field with few values; -1 if there is none.
func SparkColumn(d *herb.Dataset) int {
	best, bestScore := -1, 0
	for i, f := range d.Fields {
		if score := sparkScore(d, i, f); score > bestScore {
			best, bestScore = i, score
		}
	}
	return best
}

// sparkScore rates the distribution of a field; 0 if it has none.
func sparkScore(d *herb.Dataset, i int, f herb.Field) int {
	kind, _ := ChartKind(d, i)
	c := ColumnReport(d, i)
	if kind == "note" || c == nil || c.Distinct < 2 || 2*c.Filled < d.Records {
		return 0
	}
	unique := c.Distinct == c.Filled // such as the days of a time series
	switch {
	case kind == "cat":
		return 1
	case unique && f.Type != herb.TypeNumber:
		return 2
	case unique:
		return 3
	case f.Type == herb.TypeNumber:
		return 4
	}
	return 5
}

// NewSpark returns the chart of a facet.
func NewSpark(facet query.Facet) Spark {
	buckets := facet.Histogram
	if !query.HasRange(facet.Type) {
		for _, v := range facet.Values {
			buckets = append(buckets, query.Bucket{Count: v.Count})
		}
	}
	s := Spark{Width: len(buckets)}
	for i, h := range barHeights(buckets) {
		s.Bars = append(s.Bars, Bar{X: i, Y: chartHeight - h, Height: h})
	}
	return s
}
