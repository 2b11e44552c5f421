package charts

import (
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Aggregates are the results of the requests of a question.
type Aggregates struct {
	All    query.Aggregate // of all rows: the measure, and how many rows have a value
	Groups query.Aggregate // by the first field; of a scatter plot: its extent
	Filled bool            // intervals without rows are among the groups
	Series query.Aggregate // by the second field, the largest first
	Chosen query.Aggregate // by the second field, the series that the question names
	Cells  query.Aggregate // by both, of the groups and series that the chart shows
}

func (q *Question) request(by []query.By, sort []query.GroupSort, top int) *query.AggregateRequest {
	return &query.AggregateRequest{
		Request: q.req.Request, By: by, Measures: []query.Measure{q.Measure}, Returned: 1, Sort: sort, Top: top,
		Zone:    q.req.Zone,
		AnyZone: len(by) < len(q.By), // the zone may apply to the other field
	}
}

// AllRequest returns the request for the measure of all rows.
func (q *Question) AllRequest() *query.AggregateRequest {
	r := q.request(nil, nil, 1)
	if q.Measure.Field >= 0 {
		filled := query.Measure{Name: "filled", Kind: query.MeasureFilled, Field: q.Measure.Field}
		r.Measures, r.Returned = append(r.Measures, filled), 2
	}
	return r
}

// GroupsRequest returns the request for the groups. With fill, intervals without rows are among
// them if the measure of no rows is zero, and the request fails if they are too many for a chart.
// Without, the groups are the last intervals of many, in descending order. A table has a page of
// the groups in their order.
func (q *Question) GroupsRequest(fill bool) *query.AggregateRequest {
	sort := []query.GroupSort{{By: -1, Desc: q.Order == orderLargest}}
	if q.Order == orderLabel {
		sort = []query.GroupSort{{By: 0}}
	}
	if q.Kind == kindTable {
		r := q.request(q.By[:1], sort, pageGroups)
		r.Offset = (q.Page - 1) * pageGroups
		if q.By[0].HasIntervals() {
			r.Sort, r.Fill = nil, fill && q.isCount()
		}
		return r
	}
	if !q.By[0].HasIntervals() {
		return q.request(q.By[:1], sort, q.Top)
	}
	r := q.request(q.By[:1], nil, MaxChartCells)
	if len(q.By) > 1 {
		r.Top /= q.series()
	}
	if fill {
		r.Fill, r.MaxFilled = q.isCount(), r.Top
	} else {
		r.Sort = []query.GroupSort{{By: 0, Desc: true}}
	}
	return r
}

// SeriesRequest returns the request for the largest groups of the split: those of means with the
// largest sums, because the mean of a few rows may be large by chance.
func (q *Question) SeriesRequest() *query.AggregateRequest {
	r := q.request(q.By[1:], []query.GroupSort{{By: -1, Desc: true}}, seriesRows)
	if q.Measure.Kind == query.MeasureMean || q.Measure.Kind == query.MeasureMedian {
		sum := query.Measure{Name: string(query.MeasureSum), Kind: query.MeasureSum, Field: q.Measure.Field}
		r.Measures, r.Sort[0].Measure = append(r.Measures, sum), 1
	}
	return r
}

// ChosenRequest returns the request for the series that the question names.
func (q *Question) ChosenRequest() *query.AggregateRequest {
	r := q.request(q.By[1:], []query.GroupSort{{By: -1, Desc: true}}, len(q.Series))
	r.Labels[0] = q.Series
	return r
}

// CellsRequest returns the request for the values that a chart with a split shows: of its series,
// and of its groups unless they are intervals of a chart.
func (q *Question) CellsRequest(found Aggregates) *query.AggregateRequest {
	r := q.request(q.By, nil, MaxChartCells)
	if !q.By[0].HasIntervals() || q.Kind == kindTable {
		r.Labels[0] = labelsOf(found.Groups.Rows)
	}
	r.Labels[1] = labelsOf(q.drawn(found))
	if len(q.Series) > 0 {
		r.Labels[1] = q.Series // also if no row has them
	}
	r.Fill = q.Kind != kindTable && q.fillsCells(found)
	return r
}

// fillsCells reports whether the values of a chart with a split, and the response to its API call,
// include the combinations without rows: zeros of counts. In other charts they have no value.
func (q *Question) fillsCells(found Aggregates) bool {
	if !q.isCount() || q.By[0].HasIntervals() && !found.Filled {
		return false
	}
	return q.Kind != kindTable || found.Groups.Groups <= query.MaxGroups/max(found.Series.Groups, 1)
}

// drawn returns the series that the chart shows.
func (q *Question) drawn(found Aggregates) []query.GroupRow {
	if len(q.Series) > 0 {
		return found.Chosen.Rows
	}
	return found.Series.Rows[:min(len(found.Series.Rows), q.series())]
}

func labelsOf(rows []query.GroupRow) (labels []string) {
	for _, row := range rows {
		labels = append(labels, row.By[0])
	}
	return labels
}

// orderCategories orders all groups by their categories, if these have a natural order and the
// question asks for it.
func (q *Question) orderCategories(found *query.Aggregate) {
	if len(q.By) == 0 || q.Order != orderLabel || !q.fields[q.By[0].Field].Ordered || found.Groups > len(found.Rows) {
		return
	}
	categories := q.data.Meanings[q.By[0].Field].Categories
	slices.SortStableFunc(found.Rows, func(a, b query.GroupRow) int {
		return categories.Compare(a.By[0], b.By[0])
	})
}

// Run computes the aggregates of a question.
func (q *Question) Run(aggregate func(*query.AggregateRequest) (query.Aggregate, error)) (found Aggregates, err error) {
	if q.isScatter() {
		return q.runScatter(aggregate)
	}
	if q.isWide() {
		return q.runWide(aggregate)
	}
	run := func(into *query.Aggregate, r *query.AggregateRequest) {
		if err == nil {
			*into, err = aggregate(r)
		}
	}
	run(&found.All, q.AllRequest())
	if len(q.By) > 0 {
		found.Filled = true
		run(&found.Groups, q.GroupsRequest(true))
		isCut := q.Kind != kindTable && found.Groups.Groups > len(found.Groups.Rows)
		if q.By[0].HasIntervals() && (isCut || herb.CodeOf(err) == herb.CodeInvalid) {
			found.Filled, err = false, nil
			run(&found.Groups, q.GroupsRequest(false))
			if q.Kind != kindTable {
				slices.Reverse(found.Groups.Rows)
			}
		}
	}
	q.orderCategories(&found.Groups)
	if len(q.By) > 1 {
		run(&found.Series, q.SeriesRequest())
		if len(q.Series) > 0 {
			run(&found.Chosen, q.ChosenRequest())
		}
		if len(found.Groups.Rows) > 0 { // else all cells would be returned
			run(&found.Cells, q.CellsRequest(found))
		}
	}
	return found, err
}
