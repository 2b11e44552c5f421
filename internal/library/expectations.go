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

// tryGoldens asks a version what its publisher knows the answers to, and returns what it answers otherwise.
func checkExpectations(ctx context.Context, s Source, d herb.Dataset, goldens []herb.Expectation) ([]Change, error) {
	var failed []Change
	for i, g := range goldens {
		wrong, err := checkExpectation(ctx, s, d, g)
		if err != nil {
			return nil, err
		}
		for _, w := range wrong {
			failed = append(failed, Change{Kind: ExpectationFailed, Breaking: true, Message: fmt.Sprintf("golden %d, %q: %s", i+1, g.Query, w)})
		}
	}
	return failed, nil
}

// tryGolden returns what is wrong with the answer to one query.
func checkExpectation(ctx context.Context, s Source, d herb.Dataset, g herb.Expectation) (wrong []string, err error) {
	req, err := query.ParseOrdered(strings.TrimPrefix(g.Query, "?"), d.Fields, d.Order)
	if err != nil {
		return []string{herb.MessageOf(err)}, nil
	}
	page, err := s.List(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("golden %q: %w", g.Query, err)
	}
	if g.Total != nil && *g.Total != page.Total {
		wrong = append(wrong, fmt.Sprintf("%s records expected, %s found", herb.Count(*g.Total), herb.Count(page.Total)))
	}
	if len(g.First) == 0 {
		return wrong, nil
	}
	if len(page.Records) == 0 {
		return append(wrong, "a first record expected, none found"), nil
	}
	var first map[string]string
	if err := json.Unmarshal(page.Records[0], &first); err != nil {
		return nil, fmt.Errorf("golden %q: %w", g.Query, err)
	}
	for _, name := range slices.Sorted(maps.Keys(g.First)) {
		switch got, ok := first[name]; {
		case !ok:
			wrong = append(wrong, fmt.Sprintf("the first record has no field %q; fields: %s", name, fieldNames(d.Fields)))
		case got != g.First[name]:
			wrong = append(wrong, fmt.Sprintf("field %q of the first record: %q expected, %q found", name, truncate(g.First[name]), truncate(got)))
		}
	}
	return wrong, nil
}

func fieldNames(fields []herb.Field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}

// clip shortens a value for people.
func truncate(s string) string {
	const limit = 100
	n := 0
	for i := range s {
		if n++; n > limit {
			return s[:i] + "…"
		}
	}
	return s
}
