package segment

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
)

// Facets counts the values of fields among the records that match a request. It needs memory for the result and, from a
// pool, two bits per record.
func (r *Reader) Facets(ctx context.Context, q *query.FacetRequest) (query.Facets, error) {
	return r.union().Facets(ctx, q)
}

// union returns a union of one segment.
func (r *Reader) union() *Union { return &Union{Segments: []*Reader{r}, Tail: NewTail(r.Fields())} }

// Facets counts the values of fields among the records that match a request, as Reader.Facets does.
func (u *Union) Facets(ctx context.Context, q *query.FacetRequest) (f query.Facets, err error) {
	err = u.guard(func() error {
		st := guard.NewSteps(ctx)
		m := u.matchForFacets(st, q.Request)
		defer m.release()
		f.Total = m.total
		for _, i := range q.Fields {
			st.Check()
			own := m
			if request := q.RequestOf(i); request != q.Request {
				own = u.matchForFacets(st, request)
			}
			facet, err := u.facet(st, own, i, q)
			if own != m {
				own.release()
			}
			if err != nil {
				return err
			}
			f.Fields = append(f.Fields, facet)
		}
		return nil
	})
	if err != nil {
		return query.Facets{}, err
	}
	return f, nil
}

// facetMatches is the records of a union that match a request.
type facetMatches struct {
	segments []*bitmap.Set // by segment; nil means all records
	tail     []*tailRow
	total    int
}

func (u *Union) matchForFacets(st *guard.Steps, q *query.Request) *facetMatches {
	m := &facetMatches{tail: u.Tail.matching(st, q)}
	m.total = len(m.tail)
	for _, r := range u.Segments {
		set, n := r.matches(st, q)
		m.segments = append(m.segments, set)
		m.total += n
	}
	return m
}

// matches returns the records that match a request, nil for all, and their number. The caller must release the set.
func (r *Reader) matches(st *guard.Steps, q *query.Request) (set *bitmap.Set, n int) {
	res := r.evaluate(st, q, nil)
	if n = res.total(r); n == r.Len() {
		res.set.Release()
		return nil, n
	}
	return res.set, n
}

func (m *facetMatches) release() {
	for _, set := range m.segments {
		set.Release()
	}
}

// maxLongValues is the maximum number of values that are read from records to search them. Reading one takes more than a
// microsecond.
const maxLongValues = 20_000

// checkValueSearch returns an error if a request searches too many values that are not stored by run.
func (u *Union) checkValueSearch(m *facetMatches, field int, q *query.FacetRequest) error {
	if q.Containing == "" {
		return nil
	}
	n := 0
	for i, r := range u.Segments {
		if c := &r.columns[field]; !c.StoresValues() {
			n += min(result{set: m.segments[i]}.total(r), c.Distinct())
		}
	}
	if n > maxLongValues {
		return herb.Invalidf("%q searches at most %d values of field %q, because they are long; add a filter or a search that matches fewer records",
			query.ParamValues, maxLongValues, u.Tail.fields[field].Name)
	}
	return nil
}

// facet counts the values of a field.
func (u *Union) facet(st *guard.Steps, m *facetMatches, field int, q *query.FacetRequest) (query.Facet, error) {
	if err := u.checkValueSearch(m, field, q); err != nil {
		return query.Facet{}, err
	}
	var parts []column.Part
	for i, r := range u.Segments {
		if set := m.segments[i]; set == nil || set.Len() > 0 || q.AllEdges {
			parts = append(parts, column.Part{Column: &r.columns[field], Set: set})
		}
	}
	var all column.Values
	if q.AllEdges {
		all = tailValues(field, u.Tail.rows)
	}
	return column.Facet(st, &u.Tail.fields[field], parts, tailValues(field, m.tail), all, q), nil
}

// tailValues returns the values of a field.
func tailValues(field int, rows []*tailRow) (values column.Values) {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b *tailRow) int {
		return cmp.Or(a.keys[field].Compare(b.keys[field], false), strings.Compare(a.record[field], b.record[field]))
	})
	for _, row := range rows {
		if row.keys[field].Missing > 0 {
			values.Empty++
		} else {
			values.All = append(values.All, column.Value{Key: row.keys[field].Key, Text: row.record[field], Count: 1})
		}
	}
	return values
}
