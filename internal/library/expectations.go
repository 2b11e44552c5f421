package library

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

// checkExpectations runs the queries of a publisher's expectations and returns those whose results differ, as breaking
// changes.
func checkExpectations(ctx context.Context, s Source, d herb.Dataset, expectations []herb.Expectation) ([]Change, error) {
	var failed []Change
	for i, e := range expectations {
		wrong, err := checkExpectation(ctx, s, d, e)
		if err != nil {
			return nil, err
		}
		for _, w := range wrong {
			failed = append(failed, Change{Kind: ExpectationFailed, Breaking: true, Message: fmt.Sprintf("expectation %d, %q: %s", i+1, e.Query, w)})
		}
	}
	return failed, nil
}

// checkExpectation returns how the result of one query differs from what is expected.
func checkExpectation(ctx context.Context, s Source, d herb.Dataset, e herb.Expectation) (wrong []string, err error) {
	req, err := query.ParseOrdered(strings.TrimPrefix(e.Query, "?"), d.Fields, d.Order)
	if err != nil {
		return []string{herb.MessageOf(err)}, nil
	}
	page, err := s.List(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("expectation %q: %w", e.Query, err)
	}
	if e.Total != nil && *e.Total != page.Total {
		wrong = append(wrong, fmt.Sprintf("expected %s records, found %s", herb.Count(*e.Total), herb.Count(page.Total)))
	}
	if len(e.First) == 0 {
		return wrong, nil
	}
	if len(page.Records) == 0 {
		return append(wrong, "expected a first record, found none"), nil
	}
	var first map[string]string
	if err := json.Unmarshal(page.Records[0], &first); err != nil {
		return nil, fmt.Errorf("expectation %q: %w", e.Query, err)
	}
	for _, name := range slices.Sorted(maps.Keys(e.First)) {
		switch got, ok := first[name]; {
		case !ok:
			wrong = append(wrong, fmt.Sprintf("the first record has no field %q; fields: %s", name, fieldNames(d.Fields)))
		case got != e.First[name]:
			wrong = append(wrong, fmt.Sprintf("field %q of the first record: expected %q, found %q", name, clip(e.First[name]), clip(got)))
		}
	}
	return wrong, nil
}

// clipLimit is the number of characters of a value in a message.
const clipLimit = 100

func clip(s string) string { return herb.Clip(s, clipLimit) }

func fieldNames(fields []herb.Field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}
