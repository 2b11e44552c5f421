package segment

import (
	"context"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
)

// Facets counts the values of fields among the records that match a request. It needs memory for
// the result and, from a pool, two bits per record.
func (r *Reader) Facets(ctx context.Context, q *query.FacetRequest) (f query.Facets, err error) {
	err = r.evaluate(ctx, q.Request, forCounting, nil, func(m *matches) error {
		f.Total = m.len()
		c := facetCounter{FacetCounter: column.FacetCounter{Request: q}}
		for _, field := range q.Fields {
			m.steps.Check()
			own := m
			if request := q.RequestOf(field); request != q.Request {
				own = r.match(m.steps, request, nil)
			}
			facet, err := c.count(own, field)
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
func (c *facetCounter) addSearched(m *matches, field int) error {
	if c.Request.Containing == "" {
		return nil
	}
	long, column := 0, &m.r.columns[field]
	switch {
	case column.Field.Type == herb.TypeList:
		c.searched += column.Elements()
	case column.LongValues() == 0:
		c.searched += min(costOfLongValue*m.len(), column.Distinct())
	default:
		long = min(m.len(), column.LongValues())
	}
	c.searched += costOfLongValue * long
	switch name := column.Field.Name; {
	case long > query.MaxLongValues:
		return herb.Invalidf("%q searches at most %d values of field %q, because they are long; add a filter or a "+
			"search that matches fewer records",
			query.ParamValues, query.MaxLongValues, name)
	case len(c.Request.Fields) > 1 && c.searched > maxSearchedValues:
		return herb.Invalidf("%q searches at most %d values of several fields, and those up to field %q have more; "+
			"request fewer fields at once",
			query.ParamValues, maxSearchedValues, name)
	}
	return nil
}

// count returns the facet of a field among the matching records.
func (c *facetCounter) count(m *matches, field int) (query.Facet, error) {
	if err := c.addSearched(m, field); err != nil {
		return query.Facet{}, err
	}
	return c.Facet(m.steps, &m.r.columns[field], m.selection()), nil
}
