// Package charts answers questions about a listing with a chart: a measure, grouped and split by
// columns, as a sentence, a figure and a table.
package charts

import (
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Aggregates are the results of the requests of a question.
type Aggregates struct {
	All    query.Aggregate // of all rows: the measure, and how many rows have a value
	Groups query.Aggregate // by the first field
	Series query.Aggregate // by the second field, the largest first
	Cells  query.Aggregate // by both
}

func (q *Question) request(by []query.By, sort []query.GroupSort, top int) *query.AggregateRequest {
	return &query.AggregateRequest{
		Request: q.req.Request, By: by, Measures: []query.Measure{q.Measure}, Returned: 1, Sort: sort, Top: top, Zone: q.req.Zone,
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

// GroupsRequest returns the request for the groups. With complete, intervals without rows are among
// them, and the request fails if they are too many for a chart; else they are the last intervals of
// many, in descending order.
func (q *Question) GroupsRequest(complete bool) *query.AggregateRequest {
	sort := []query.GroupSort{{By: -1, Desc: q.Order == orderLargest}}
	if q.Order == orderLabel {
		sort = []query.GroupSort{{By: 0}}
	}
	if !q.By[0].HasIntervals() {
		return q.request(q.By[:1], sort, q.Top)
	}
	r := q.request(q.By[:1], nil, MaxIntervals+1)
	if r.Fill, r.MaxFilled = complete, MaxIntervals+1; !complete {
		r.Sort = []query.GroupSort{{By: 0, Desc: true}}
	}
	return r
}

// SeriesRequest returns the request for the largest groups of the split.
func (q *Question) SeriesRequest() *query.AggregateRequest {
	return q.request(q.By[1:], []query.GroupSort{{By: -1, Desc: true}}, splitRows)
}

// CellsRequest returns the request for the values by both fields, of the groups and series that
// were found. If there may be too many combinations, it asks only for the groups and series that
// the chart shows.
func (q *Question) CellsRequest(found Aggregates) *query.AggregateRequest {
	r := q.request(q.By, nil, MaxChartCells)
	if found.Groups.Groups*found.Series.Groups <= MaxChartCells {
		return r
	}
	rows := q.selectGroups(q.rows, q.By[0], found.Groups.Rows)
	rows = q.selectGroups(rows, q.By[1], found.Series.Rows[:min(len(found.Series.Rows), q.series())])
	if selected, err := query.ParseAggregate(rows.Encode(), q.fields); err == nil { // else the query is too long
		r.Request = selected.Request
	}
	return r
}

// selectGroups adds filters for the values of groups. Intervals and lists have other filters; they
// stay unfiltered.
func (q *Question) selectGroups(rows query.Params, by query.By, groups []query.GroupRow) query.Params {
	isMissing := func(g query.GroupRow) bool { return g.By[0] == "" }
	if by.HasIntervals() || q.fields[by.Field].Type == herb.TypeList || slices.ContainsFunc(groups, isMissing) {
		return rows
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(p query.Param) bool { // the groups meet it
		i, op, ok := query.ResolveFilter(p.Name, q.fields)
		return ok && i == by.Field && op == query.OpEq
	})
	for _, g := range groups {
		rows = append(rows, query.Param{Name: query.FilterParam(q.fields[by.Field].Name, query.OpEq), Value: g.By[0]})
	}
	return rows
}
