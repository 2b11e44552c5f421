package charts

import (
	"strconv"

	"herbarium/internal/query"
	"herbarium/internal/web/view/state"
)

// Call returns the parameters of the API call for the values that the chart shows: the request of
// its groups, or of its cells. That of a table returns the values of all its pages.
func (q *Question) Call(s *state.State, found Aggregates) query.Params {
	if q.isScatter() {
		return q.scatterCall(found).WithValue(query.ParamVersion, s.Version)
	}
	ps := s.Selection()
	for _, b := range q.By {
		ps = ps.WithValue(query.ParamBy, b.Name)
	}
	for _, m := range q.measures() {
		ps = ps.WithValue(query.ParamMeasure, m.Name)
	}
	rest := query.Params(nil).WithValue(query.ParamZone, q.Zone).WithValue(query.ParamVersion, s.Version)
	switch {
	case q.isWide() && len(q.By) == 1:
	case len(q.By) == 1 || q.isWide():
		r := q.GroupsRequest(found.Filled)
		if !q.By[0].HasIntervals() {
			ps = ps.WithValue(query.ParamGroupSort, q.sortName())
		} else if len(r.Sort) > 0 && found.Groups.Groups > r.Top {
			ps = ps.WithValue(query.ParamGroupSort, "-by1")
		}
		if r.Fill {
			ps = ps.WithValue(query.ParamFill, "zero")
		}
		if q.Kind == kindTable {
			r.Top = query.MaxGroupsReturned
		}
		ps = ps.WithValue(query.ParamTopGroups, strconv.Itoa(r.Top))
	case len(q.By) == 2 && q.Kind == kindTable:
		if q.fillsCells(found) {
			ps = ps.WithValue(query.ParamFill, "zero")
		}
		ps = withLabels(ps.WithValue(query.ParamTopGroups, strconv.Itoa(query.MaxGroupsReturned)),
			query.ParamSeries, q.Series)
	case len(q.By) == 2:
		r := q.CellsRequest(found)
		if r.Fill {
			ps = ps.WithValue(query.ParamFill, "zero")
		}
		ps = ps.WithValue(query.ParamTopGroups, strconv.Itoa(r.Top))
		series := withLabels(ps, query.ParamSeries, r.Labels[1])
		for _, all := range []query.Params{withLabels(series, query.ParamGroup, r.Labels[0]), series} {
			if len(all.With(rest...).Encode()) <= query.MaxQueryBytes { // else the call returns more groups
				return all.With(rest...)
			}
		}
	}
	return ps.With(rest...)
}

// FileCall returns the parameters of the CSV file with the values of an API call. The file of a
// table has all groups, also if they are more than a response in JSON can have.
func (q *Question) FileCall(call query.Params) query.Params {
	if q.Kind == kindTable {
		return call.Without(query.ParamTopGroups)
	}
	return call
}

// withLabels adds a parameter for each label of groups to return.
func withLabels(ps query.Params, name string, labels []string) query.Params {
	for _, label := range labels {
		if label == "" {
			ps = ps.With(query.Param{Name: name + "[empty]", Value: "true"})
			continue
		}
		ps = ps.With(query.Param{Name: name, Value: label})
	}
	return ps
}

func (q *Question) sortName() string {
	switch q.Order {
	case orderSmallest:
		return q.Measure.Name
	case orderLabel:
		return "by1"
	}
	return "-" + q.Measure.Name
}
