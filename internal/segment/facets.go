package segment

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
)

// Facets counts the values of fields among the records that match a request. It needs memory for
// the result and, from a pool, two bits per record.
func (r *Reader) Facets(ctx context.Context, q *query.FacetRequest) (query.Facets, error) {
	return r.union().Facets(ctx, q)
}

func (r *Reader) union() *Union { return &Union{Segments: []*Reader{r}, Tail: NewTail(r.Fields())} }

// Facets counts the values of fields among the records that match a request, as Reader.Facets does.
func (u *Union) Facets(ctx context.Context, q *query.FacetRequest) (f query.Facets, err error) {
	err = runQuery(ctx, u.guard, u.Segments, q.Request, func(st *guard.Steps) error {
		u.announceCounting(st)
		m := u.matchForFacets(st, q.Request)
		defer m.release()
		f.Total = m.total
		c := facetCounter{FacetCounter: column.FacetCounter{Request: q}}
		for _, i := range q.Fields {
			st.Check()
			own := m
			if request := q.RequestOf(i); request != q.Request {
				own = u.matchForFacets(st, request)
			}
			facet, err := u.facet(st, own, i, &c)
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
	return f, err
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

// matches returns the records that match a request, nil for all, and their number. The caller must
// release the set.
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

// Limits of the values that a facet request searches.
const (
	maxSearchedValues = 1 << 20 // of several fields. One field may have more
	costOfLongValue   = 200     // in values that are stored by run
)

// facetCounter counts the facets of a request.
type facetCounter struct {
	column.FacetCounter
	searched int // values searched so far
}

// addSearched adds the values of a field that the request searches. It returns an error if they are
// too many.
func (c *facetCounter) addSearched(u *Union, m *facetMatches, field int) error {
	if c.Request.Containing == "" {
		return nil
	}
	long := 0
	for i, r := range u.Segments {
		column, matching := &r.columns[field], result{set: m.segments[i]}.total(r)
		switch {
		case column.Field.Type == herb.TypeList:
			c.searched += column.Elements()
		case column.LongValues() == 0:
			c.searched += min(costOfLongValue*matching, column.Distinct())
		default:
			long += min(matching, column.LongValues())
		}
	}
	c.searched += costOfLongValue * long
	switch name := u.Tail.fields[field].Name; {
	case long > query.MaxLongValues:
		return herb.Invalidf("%q searches at most %d values of field %q, because they are long; add a filter or a search that matches fewer records",
			query.ParamValues, query.MaxLongValues, name)
	case len(c.Request.Fields) > 1 && c.searched > maxSearchedValues:
		return herb.Invalidf("%q searches at most %d values of several fields, and those up to field %q have more; request fewer fields at once",
			query.ParamValues, maxSearchedValues, name)
	}
	return nil
}

func (u *Union) facet(st *guard.Steps, m *facetMatches, field int, c *facetCounter) (query.Facet, error) {
	if err := c.addSearched(u, m, field); err != nil {
		return query.Facet{}, err
	}
	var parts []column.Part
	for i, r := range u.Segments {
		if set := m.segments[i]; set == nil || set.Len() > 0 || c.Request.AllEdges {
			parts = append(parts, column.Part{Column: &r.columns[field], Set: set})
		}
	}
	var all column.Values
	if c.Request.AllEdges {
		all = tailValues(st, field, u.Tail.rows)
	}
	return c.Facet(st, &u.Tail.fields[field], parts, tailValues(st, field, m.tail), all), nil
}

func tailValues(st *guard.Steps, field int, rows []*tailRow) (values column.Values) {
	rows = slices.Clone(rows)
	st.Add(len(rows) * bits.Len(uint(len(rows)))) // comparisons
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
