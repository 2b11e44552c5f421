package charts

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/query"
	"herbarium/internal/segment/segmenttest"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/state"
)

// TestQuestion_call compares the values that a split chart draws, also those at zero, with the
// response to its API call.
func TestQuestion_call(t *testing.T) {
	t.Parallel()
	d, records := sales()
	source := segmenttest.NewOracle(d.Fields, records)
	aggregate := func(r *query.AggregateRequest) (query.Aggregate, error) {
		return source.Aggregate(context.Background(), r)
	}
	for raw, zeros := range map[string]bool{
		"_by=date:month&_by=category&_measure=sum:price": false, "_by=date:month&_by=category": true,
		"_by=date:month&_by=category&_series=fern&_series=moss":        true,
		"_by=date:month&_by=category&_measure=distinct:page":           true,
		"_by=date:month&_by=category&_measure=sum:price&_kind=stacked": false,
		"_by=at:hour_of_day&_by=category":                              true, "_by=category&_by=page": true,
		"_by=page&_by=category&_kind=heat&_measure=filled:price": true, "_by=category&_by=page&_top=1&_split=1": false,
		"_by=date:month&_by=category&_measure=mean:price": false, "_by=date:month&_by=category&_series=gone": false,
		"_by=price:10&_by=category&_measure=max:price": false,
	} {
		s, _, err := state.ParseState("/p/chart", query.Split(raw), columns.Read(d))
		if err != nil {
			t.Fatal(err)
		}
		q, err := ParseQuestion(&s)
		if err != nil {
			t.Fatal(err)
		}
		found, err := q.Run(aggregate)
		if err != nil {
			t.Fatal(err)
		}
		drawn, a, hasZero := map[string]string{}, &answerBuilder{State: &s, Question: q, Aggregates: found}, false
		a.setSeries()
		for _, series := range a.series {
			for i, value := range series.values {
				if _, ok := q.number(value); ok && !series.other {
					drawn[a.shown[i].By[0]+" "+series.label], hasZero = value, hasZero || value == "0"
				}
			}
		}
		req, err := query.ParseAggregate(q.Call(&s, found).Encode(), d.Fields)
		if err != nil {
			t.Fatal(err)
		}
		response, err := aggregate(req)
		if err != nil {
			t.Fatal(err)
		}
		returned := map[string]string{}
		for _, row := range response.Rows {
			if _, ok := q.number(row.Values[0]); ok && (row.By[0] != "" || !q.By[0].HasIntervals()) { // else not drawn
				returned[strings.Join(row.By, " ")] = row.Values[0]
			}
		}
		if diff := cmp.Diff(returned, drawn); diff != "" {
			t.Errorf("%s: (-returned +drawn)\n%s", raw, diff)
		}
		if hasZero != zeros {
			t.Errorf("%s: zeros are drawn: %v", raw, hasZero)
		}
	}
}
