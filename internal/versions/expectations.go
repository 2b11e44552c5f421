package versions

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// checkCharts checks that the fields have what the charts of a publisher show.
func checkCharts(charts []herb.PinnedChart, fields []herb.Field) error {
	for i, c := range charts {
		var params query.Params
		for _, by := range c.By {
			params = params.With(query.Param{Name: query.ParamBy, Value: by})
		}
		if _, err := query.ParseAggregate(params.WithValue(query.ParamMeasure, c.Measure).Encode(),
			fields); err != nil {
			return herb.Invalidf("charts[%d]: %s", i, herb.MessageOf(err))
		}
	}
	return nil
}

// checkExpectations runs the queries of a publisher's expectations and returns those whose results
// differ, as breaking changes.
func checkExpectations(ctx context.Context, s query.Engine, d herb.Dataset,
	expectations []herb.Expectation) (failed []Change, err error) {
	for i, e := range expectations {
		err := checkExpectation(ctx, s, d, e, func(format string, args ...any) {
			message := fmt.Sprintf("expectation %d, %q: ", i+1, e.Query) + fmt.Sprintf(format, args...)
			failed = append(failed, Change{Kind: ExpectationFailed, Breaking: true, Message: message})
		})
		if err != nil {
			return nil, fmt.Errorf("expectation %q: %w", e.Query, err)
		}
	}
	return failed, nil
}

// checkExpectation calls fail for each difference between the result of a query and what is
// expected.
func checkExpectation(ctx context.Context, s query.Engine, d herb.Dataset, e herb.Expectation,
	fail func(format string, args ...any)) error {
	req, err := query.Split(strings.TrimPrefix(e.Query, "?")).Listing(d.Fields, d.Order)
	if err != nil {
		fail("%s", herb.MessageOf(err))
		return nil
	}
	page, err := s.List(ctx, req)
	if err != nil {
		return err
	}
	switch {
	case e.Total != nil && *e.Total != page.Total:
		fail("expected %s, found %s", herb.Plural(*e.Total, "record", "records"), herb.Count(page.Total))
	case e.Min != nil && page.Total < *e.Min:
		fail("expected at least %s, found %s", herb.Plural(*e.Min, "record", "records"), herb.Count(page.Total))
	case e.Max != nil && page.Total > *e.Max:
		fail("expected at most %s, found %s", herb.Plural(*e.Max, "record", "records"), herb.Count(page.Total))
	}
	if len(e.First) == 0 {
		return nil
	}
	if len(page.Records) == 0 {
		fail("expected a first record, found none")
		return nil
	}
	var first map[string]string
	if err := json.Unmarshal(page.Records[0], &first); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(e.First)) {
		switch got, ok := first[name]; {
		case !ok:
			fail("the first record has no field %q; fields: %s", name,
				strings.Join(slices.Sorted(maps.Keys(first)), ", "))
		case got != e.First[name]:
			fail("field %q of the first record: expected %q, found %q", name, clip(e.First[name]), clip(got))
		}
	}
	return nil
}
