// Package distributions draws the distribution of the values of a column, for the heads of columns
// and the catalogue.
package distributions

import (
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
)

// SparkLabel says what the small picture of a dataset shows: a map, or the distribution of a column
// with its ends. It is empty if there is none.
func SparkLabel(d *columns.Dataset) string {
	if len(d.Pairs) > 0 {
		return "map"
	}
	i := SparkColumn(d)
	if i < 0 {
		return ""
	}
	f, c := &d.Fields[i], d.Meanings[i].Report
	label := herb.Clip(format.PlainText(columns.Heading(*f)), 24)
	if !query.HasRange(f.Type) || c.Min == "" || c.Max == "" {
		return label
	}
	column := columns.NewColumn(d, i)
	from, to := columns.ShortOperand(&column, c.Min), columns.ShortOperand(&column, c.Max)
	const year = 4 // digits
	if isDate := f.Type == herb.TypeDate || f.Type == herb.TypeDateTime; isDate && len(from) > year && len(to) > year && from[:year] != to[:year] {
		from, to = from[:year], to[:year]
	}
	return label + " " + from + " – " + to
}

// SparkColumn returns the position of the field whose distribution says most about a dataset: a
// date, else a number, those with repeated values first, else a field with few values; -1 if there
// is none.
func SparkColumn(d *columns.Dataset) int {
	return columns.BestColumn(d, func(i int) int {
		_, noted := noteOf(d, i)
		c := d.Meanings[i].Report
		if noted || c == nil || c.Distinct < 2 || 2*c.Filled < d.Records {
			return 0
		}
		isUnique := c.Distinct == c.Filled // such as the days of a time series
		switch isNumber := d.Fields[i].Type == herb.TypeNumber; {
		case !query.HasRange(d.Fields[i].Type):
			return 1
		case isUnique && !isNumber:
			return 2
		case isUnique:
			return 3
		case isNumber:
			return 4
		}
		return 5
	})
}

// NewSpark returns the bars of a small picture of a facet, for the catalogue.
func NewSpark(facet query.Facet) []Bar {
	buckets := facet.Histogram
	if !query.HasRange(facet.Type) {
		for _, v := range facet.Values {
			buckets = append(buckets, query.Bucket{Count: v.Count})
		}
	}
	return newBars(buckets)
}
