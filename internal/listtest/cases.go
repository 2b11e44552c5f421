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

// testCase is a dataset with queries whose expected results are written by hand.
type testCase struct {
	name string
	dataset
	queries []listQuery
	facets  []facetQuery
}

type dataset struct {
	plants  bool // valid for engines that store plants only
	fields  []herb.Field
	records []herb.Record
}

// listQuery is a raw query and its expected result.
type listQuery struct {
	query string
	want  []string // first field of each record on the page
	total int      // zero means the number of records on the page
}

// facetQuery is a raw facet query and its expected result, in the format of sketch.
type facetQuery struct {
	query string
	want  []string
}

// check runs all queries of a case.
func (c testCase) check(ctx context.Context, l Lister) error {
	var errs []error
	for _, q := range c.queries {
		if err := c.checkList(ctx, l, q); err != nil {
			errs = append(errs, fmt.Errorf("%q: %w", q.query, err))
		}
	}
	for _, q := range c.facets {
		if err := c.checkFacets(ctx, l, q); err != nil {
			errs = append(errs, fmt.Errorf("facets %q: %w", q.query, err))
		}
	}
	return errors.Join(errs...)
}

func (c testCase) checkList(ctx context.Context, l Lister, q listQuery) error {
	r, err := query.Parse(q.query, c.fields)
	if err != nil {
		return err
	}
	got, err := execute(ctx, l, c.fields, r)
	if err != nil {
		return err
	}
	want := result{Meta: metaOf(r, max(q.total, len(q.want)))}
	for _, id := range q.want {
		i := slices.IndexFunc(c.records, func(rec herb.Record) bool { return rec[0] == id })
		if i < 0 {
			return fmt.Errorf("the case has no record %q", id)
		}
		want.Records = append(want.Records, c.records[i])
	}
	return want.differs(got)
}

func (c testCase) checkFacets(ctx context.Context, l Lister, q facetQuery) error {
	r, err := query.ParseFacets(q.query, c.fields)
	if err != nil {
		return err
	}
	facets, err := l.Facets(ctx, r)
	if err != nil {
		return err
	}
	if got, want := strings.Join(sketch(facets), "\n"), strings.Join(q.want, "\n"); got != want {
		return errors.New("got\n" + got + "\nwant\n" + want)
	}
	return nil
}

// sketch formats facets briefly: the total, then one line per field.
func sketch(f query.Facets) []string {
	lines := []string{fmt.Sprint(f.Total)}
	for _, facet := range f.Fields {
		line := fmt.Sprintf("%s: %d empty, %d distinct", facet.Field, facet.Empty, facet.Distinct)
		if facet.Total != f.Total {
			line = fmt.Sprintf("%s: of %d: %d empty, %d distinct", facet.Field, facet.Total, facet.Empty, facet.Distinct)
		}
		if facet.Matching != facet.Distinct {
			line += fmt.Sprintf(", %d matching", facet.Matching)
		}
		line += ":"
		for _, v := range facet.Values {
			line += fmt.Sprintf(" %s=%d", v.Value, v.Count)
		}
		if facet.Min != "" || facet.Max != "" {
			line += fmt.Sprintf("; %s to %s", facet.Min, facet.Max)
		}
		previous := ""
		for i, bucket := range facet.Histogram {
			switch {
			case i == 0 && facet.Scale != query.ScaleLinear:
				line += fmt.Sprintf("; %s from %s", facet.Scale, bucket.From)
			case i == 0:
				line += "; from " + bucket.From
			case bucket.From != previous:
				line += " gap " + bucket.From
			}
			previous = bucket.To
			line += fmt.Sprintf(" (%d) %s", bucket.Count, bucket.To)
		}
		lines = append(lines, line)
	}
	return lines
}
