package charts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/plot"
)

// seriesLimits returns how many series a chart shows by default and at most. Those of heat maps and
// tables need no colors.
func (q *Question) seriesLimits() (usual, most int) {
	switch q.Kind {
	case plot.Heat:
		return 12, heatRows
	case kindTable:
		return pageSeries, pageSeries
	}
	return max(5, len(q.Columns)), plot.MaxSeries
}

// series returns how many series the chart shows.
func (q *Question) series() int {
	usual, _ := q.seriesLimits()
	return cmp.Or(len(q.Series), q.Split, usual)
}

func joinKinds(kinds []plot.Kind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

// kinds returns the forms that suit the question, the best first; none if it has no groups.
func (q *Question) kinds() (kinds []plot.Kind) {
	switch {
	case len(q.By) == 0:
		return nil
	case q.isWide():
		return q.wideKinds()
	case len(q.By) == 1 && !q.By[0].HasIntervals():
		return []plot.Kind{plot.Bars, kindTable}
	case len(q.By) == 1 && q.isTime(q.By[0]):
		return []plot.Kind{plot.Lines, plot.Bars, kindTable}
	case len(q.By) == 1:
		return []plot.Kind{plot.Bars, plot.Lines, kindTable}
	}
	if q.isAdditive() {
		kinds = append(kinds, plot.Stacked)
	}
	kinds = append(kinds, plot.Grouped)
	switch {
	case q.isTime(q.By[0]):
		kinds = append([]plot.Kind{plot.Lines}, kinds...)
	case q.By[0].HasIntervals():
		kinds = append(kinds, plot.Lines)
	}
	if q.canScatter() {
		kinds = append(kinds, plot.ScatterPlot)
	}
	return append(kinds, plot.Heat, kindTable)
}

// intervalsHint says which intervals of the first field make a form possible; empty: none.
func (q *Question) intervalsHint(kind plot.Kind) string {
	if kind != plot.Lines || q.By[0].HasIntervals() {
		return ""
	}
	by := byOf(q.data, q.By[0].Field)
	if f := &q.fields[by.Field]; !by.HasIntervals() && f.Type == herb.TypeNumber { // few numbers
		by.Name += ":" + cmp.Or(bucketWidth(f, q.data.Meanings[by.Field].Report, defaultTop), "1")
	} else if !by.HasIntervals() {
		return ""
	}
	return "; lines need intervals, such as " + strconv.Quote(query.ParamBy+"="+by.Name)
}

// hasDefaultKind reports whether the chart has the form that suits the question best.
func (q *Question) hasDefaultKind() bool {
	kinds := q.kinds()
	return len(kinds) == 0 || q.Kind == kinds[0]
}

// isTime reports whether groups are intervals of time: of dates, or of years.
func (q *Question) isTime(b query.By) bool {
	return b.Grain != "" && !b.IsCyclic() || b.Width != "" && q.data.Meanings[b.Field].IsYear
}

// isAdditive reports whether the values of groups add up to that of all of them.
func (q *Question) isAdditive() bool {
	return q.Measure.Kind == query.MeasureSum || q.isCount() && q.Measure.Kind != query.MeasureDistinct
}

// isCount reports whether the measure counts, so that it is zero where there are no rows. Others,
// also sums, have no value there.
func (q *Question) isCount() bool {
	return slices.Contains([]query.MeasureKind{query.MeasureCount, query.MeasureFilled, query.MeasureDistinct},
		q.Measure.Kind)
}
