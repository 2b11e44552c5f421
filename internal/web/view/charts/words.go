package charts

import (
	"cmp"
	"strconv"
	"strings"

	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/plot"
)

// chartMeasures are the kinds of measures that a chart offers, and how a sentence says them.
var chartMeasures = []struct {
	kind    query.MeasureKind
	percent int
	text    string
}{
	{query.MeasureSum, 0, "sum"}, {query.MeasureMean, 0, "mean"}, {query.MeasureMedian, 0, "median"},
	{query.MeasurePercentile, 90, "90th percentile"},
	{query.MeasureMin, 0, "minimum"}, {query.MeasureMax, 0, "maximum"}, {query.MeasureStdDev, 0, "standard deviation"},
	{query.MeasureRatio, 0, "ratio"}, {query.MeasureFilled, 0, "number of values"},
	{query.MeasureDistinct, 0, "number of distinct values"},
}

// kindWord returns the measure without its field in words.
func kindWord(m query.Measure) string {
	if m.Kind == query.MeasurePercentile {
		return ordinal(m.Percent) + " percentile"
	}
	for _, c := range chartMeasures {
		if c.kind == m.Kind {
			return c.text
		}
	}
	return "number of rows"
}

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

// measureText returns the measure in words.
func (q *Question) measureText() string {
	if q.Measure.Kind == query.MeasureCount {
		return "rows"
	}
	s := kindWord(q.Measure) + " of " + q.columnsText()
	if q.Measure.Kind == query.MeasureRatio {
		s += " to " + columns.Heading(q.fields[q.Measure.Divisor])
	}
	return s
}

// gapsText says that lines end where intervals have no rows.
const gapsText = "lines with gaps"

func kindText(k plot.Kind) string {
	texts := map[plot.Kind]string{plot.Stacked: "stacked bars", plot.Grouped: "grouped bars", plot.Heat: "a heat map",
		plot.ScatterPlot: "a scatter plot", kindTable: "a table"}
	return cmp.Or(texts[k], string(k))
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:] // the texts begin with letters of ASCII
}

// grainText returns a grain in words, such as month of year.
func grainText(g query.Grain) string { return strings.ReplaceAll(string(g), "_", " ") }
