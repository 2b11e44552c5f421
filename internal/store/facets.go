package store

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// countFacets counts the values of the plants' fields with portable SQL over the tables of ListPlants.
func countFacets(ctx context.Context, q Querier, r *query.FacetRequest) (query.Facets, error) {
	l, where, total, err := newCounter(ctx, q, r.Request)
	if err != nil {
		return query.Facets{}, err
	}
	f, fields := query.Facets{Total: total}, herb.PlantFields()
	for _, i := range r.Fields {
		facet := query.Facet{Field: fields[i].Name, Type: fields[i].Type}
		switch {
		case total == 0:
		case i == fieldID:
			err = l.idFacet(ctx, where, r, total, &facet)
		default: // columns have the names of the fields
			err = l.textFacet(ctx, facet.Field, where, r, total, &facet)
		}
		if err != nil {
			return query.Facets{}, err
		}
		f.Fields = append(f.Fields, facet)
	}
	return f, nil
}

// newCounter returns a lister, the condition for the counted plants, and their number.
func newCounter(ctx context.Context, q Querier, r *query.Request) (_ *lister, where fragment, total int, err error) {
	unordered := *r
	unordered.Sort = fieldID // any fixed order avoids computing scores
	l, err := newLister(ctx, q, &unordered)
	switch {
	case err != nil:
		return nil, never, 0, err
	case r.Search == nil:
		total, err = l.total(ctx)
		return l, l.filter, total, err
	}
	_, where, total, err = l.resolveSearch(ctx)
	return l, where, total, err
}

// idFacet counts the IDs, which are unique.
func (l *lister) idFacet(ctx context.Context, where fragment, r *query.FacetRequest, total int, f *query.Facet) error {
	f.Distinct = total
	if err := l.row(ctx, where.prefixed("SELECT min(id), max(id) FROM plants WHERE "), &f.Min, &f.Max); err != nil {
		return err
	}
	if r.Top > 0 {
		ids, err := l.numbers(ctx, where.prefixed("SELECT id FROM plants WHERE ").suffixed(" ORDER BY id LIMIT ?", r.Top))
		if err != nil {
			return err
		}
		for _, id := range ids {
			f.Values = append(f.Values, query.ValueCount{Value: strconv.FormatInt(id, 10), Count: 1})
		}
	}
	f.Histogram = query.Buckets(herb.Field{Type: f.Type}, f.Min, f.Max, r.Buckets)
	return l.countBuckets(ctx, where, f.Histogram)
}

// countBuckets counts the IDs of all buckets in one scan.
func (l *lister) countBuckets(ctx context.Context, where fragment, buckets []query.Bucket) error {
	if len(buckets) == 0 {
		return nil
	}
	columns, counts := make([]string, len(buckets)), make([]any, len(buckets))
	var args []any
	for i, b := range buckets {
		within := and(
			idCondition(query.Condition{Op: query.OpGte, Values: []query.Operand{{Text: b.From}}}),
			idCondition(query.Condition{Op: query.OpLt, Values: []query.Operand{{Text: b.To}}}),
		)
		columns[i] = "count(CASE WHEN " + within.sql + " THEN 1 END)"
		args = append(args, within.args...)
		counts[i] = &buckets[i].Count
	}
	selected := fragment{"SELECT " + strings.Join(columns, ", ") + " FROM plants WHERE ", args}
	return l.row(ctx, selected.suffixed(where.sql, where.args...), counts...)
}

// textFacet counts the values of a text column.
func (l *lister) textFacet(
	ctx context.Context, column string, where fragment, r *query.FacetRequest, total int, f *query.Facet,
) error {
	filled := and(where, fragment{sql: column + " <> ''"})
	var n int
	err := l.row(ctx, filled.prefixed("SELECT count(*), count(DISTINCT "+column+") FROM plants WHERE "), &n, &f.Distinct)
	if f.Empty = total - n; err != nil || r.Top == 0 {
		return err
	}
	key := column + "_key"
	top := filled.prefixed("SELECT "+column+", count(*) FROM plants WHERE ").
		suffixed(" GROUP BY "+column+", "+key+" ORDER BY count(*) DESC, "+key+", "+column+" LIMIT ?", r.Top)
	f.Values, err = collect(ctx, l.q, func(rows *sql.Rows) (v query.ValueCount, err error) {
		err = rows.Scan(&v.Value, &v.Count)
		return v, err
	}, top.sql, top.args...)
	return err
}
