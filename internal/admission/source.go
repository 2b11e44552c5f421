package admission

import (
	"context"

	"herbarium/internal/query"
)

// Limit returns a source that runs each query on a dataset of a number of records in the lane of its cost. The slot is that of
// the ticket in the context; a query without a ticket runs at once.
func (c *Controller) Limit(records int, s query.Source) query.Source { return &limited{s, c, records} }

type limited struct {
	source  query.Source
	c       *Controller
	records int // of the dataset
}

func (s *limited) List(ctx context.Context, r *query.Request) (query.Page, error) {
	return run(ctx, s, r, s.source.List)
}

func (s *limited) Facets(ctx context.Context, r *query.FacetRequest) (query.Facets, error) {
	return run(ctx, s, r, s.source.Facets)
}

func (s *limited) Grid(ctx context.Context, r *query.GridRequest) (query.Grid, error) {
	return run(ctx, s, r, s.source.Grid)
}

// run runs a query in the lane of its cost. An expensive query is paced and gives its slot back when it is done; a cheap one keeps
// it for the rest of the request.
func run[R interface{ IsExpensive(records int) bool }, P any](
	ctx context.Context, s *limited, r R, evaluate func(context.Context, R) (P, error),
) (result P, err error) {
	t := ticketFrom(ctx)
	switch {
	case t == nil:
	case !r.IsExpensive(s.records):
		err = t.Enter(ctx, Cheap)
	default:
		if err = t.Enter(ctx, Expensive); err == nil {
			defer t.Release()
			ctx = query.WithYield(ctx, s.c.Pace(ctx)) // what arrived while it waited for the slot does not count
		}
	}
	if err != nil {
		return result, err
	}
	return evaluate(ctx, r)
}

// Stream computes the result of an export. The export holds a slot of its own lane; an expensive query takes another one until
// it is computed.
func (s *limited) Stream(ctx context.Context, r *query.Request) (query.Stream, error) {
	if r.IsExpensive(s.records) && ticketFrom(ctx) != nil {
		release, err := s.c.Acquire(ctx, Expensive)
		if err != nil {
			return query.Stream{}, err
		}
		defer release()
		ctx = query.WithYield(ctx, s.c.Pace(ctx))
	}
	return s.source.Stream(ctx, r)
}
