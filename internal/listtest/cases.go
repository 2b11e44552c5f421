package listtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// testCase is a dataset with queries whose expected results are written by hand. Results refer to records by the value
// of their first field.
type testCase struct {
	name    string
	plants  bool // valid for engines that store plants only
	fields  []herb.Field
	records []herb.Record
	queries []listQuery
	facets  []facetQuery
}

// listQuery is a raw query and its expected result.
type listQuery struct {
	query string
	want  string // first field of each record on the page
	total int    // zero means the number of records on the page
}

// testCases returns all named cases.
func testCases() []testCase {
	return slices.Concat(plantCases(), catalogCases(), valueCases(), scalarCases(), textCases(), searchCases(), facetCases())
}

// check runs all queries of a case.
func (s testCase) check(ctx context.Context, l Lister) error {
	var errs []error
	for _, q := range s.queries {
		if err := s.checkOne(ctx, l, q); err != nil {
			errs = append(errs, fmt.Errorf("%q: %w", q.query, err))
		}
	}
	for _, q := range s.facets {
		if err := s.checkFacets(ctx, l, q); err != nil {
			errs = append(errs, fmt.Errorf("facets %q: %w", q.query, err))
		}
	}
	return errors.Join(errs...)
}

func (s testCase) checkOne(ctx context.Context, l Lister, q listQuery) error {
	r, err := query.Parse(q.query, s.fields)
	if err != nil {
		return err
	}
	got, err := execute(ctx, l, &decoder{fields: s.fields}, r)
	if err != nil {
		return err
	}
	ids := strings.Fields(q.want)
	total := q.total
	if total == 0 {
		total = len(ids)
	}
	want := result{Meta: metaOf(r, total)}
	for _, id := range ids {
		i := slices.IndexFunc(s.records, func(rec herb.Record) bool { return rec[0] == id })
		if i < 0 {
			return fmt.Errorf("the case has no record %q", id)
		}
		want.Records = append(want.Records, s.records[i])
	}
	return want.differs(got)
}

// field returns a field that is filterable and sortable, and searchable if it holds text.
func field(name string, t herb.Type) herb.Field {
	return herb.Field{
		Name:       name,
		Type:       t,
		Searchable: t == herb.TypeText || t == herb.TypeList,
		Filterable: true,
		Sortable:   true,
	}
}

// named returns the fields of a case about one field: a record name, which is not searchable, and that field.
func named(f herb.Field) []herb.Field {
	id := field("id", herb.TypeText)
	id.Searchable = false
	return []herb.Field{id, f}
}
