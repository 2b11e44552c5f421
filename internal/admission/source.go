package admission

import (
	"context"

	"herbarium/internal/query"
)

// Source answers queries about one dataset.
type Source interface {
	List(ctx context.Context, r *query.Request) (query.Page, error)
	Stream(ctx context.Context, r *query.Request) (query.Stream, error)
	Facets(ctx context.Context, r *query.FacetRequest) (query.Facets, error)
	Grid(ctx context.Context, r *query.GridRequest) (query.Grid, error)
}

// Limit returns a source that runs each query on a dataset of a number of records in the lane of its cost. The slot is that of
// the ticket in the context; a query without a ticket runs at once.
func (c *Controller) Limit(records int, s Source) Source { return &limited{s, c, records} }

type limited struct {
	source  Source
	c       *Controller
	records int // of the dataset
}

func (s *limited) List(ctx context.Context, r *query.Request) (query.Page, error) {
	ctx, leave, err := s.enter(ctx, r.IsExpensive(s.records))
	if err != nil {
		return query.Page{}, err
	}
	defer leave()
	return s.source.List(ctx, r)
}

func (s *limited) Facets(ctx context.Context, r *query.FacetRequest) (query.Facets, error) {
	ctx, leave, err := s.enter(ctx, r.IsExpensive(s.records))
	if err != nil {
		return query.Facets{}, err
	}
	defer leave()
	return s.source.Facets(ctx, r)
}

func (s *limited) Grid(ctx context.Context, r *query.GridRequest) (query.Grid, error) {
	ctx, leave, err := s.enter(ctx, r.IsExpensive(s.records))
	if err != nil {
		return query.Grid{}, err
	}
	defer leave()
	return s.source.Grid(ctx, r)
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

// enter takes a slot for a query and returns the context to run it with. An expensive query is paced and gives its slot back
// when it is done; a cheap one keeps it for the rest of the request.
func (s *limited) enter(ctx context.Context, expensive bool) (_ context.Context, leave func(), err error) {
	t := ticketFrom(ctx)
	if t == nil {
		return ctx, func() {}, nil
	}
	if !expensive {
		return ctx, func() {}, t.Enter(ctx, Cheap)
	}
	if err := t.Enter(ctx, Expensive); err != nil {
		return nil, nil, err
	}
	return query.WithYield(ctx, s.c.Pace(ctx)), t.Release, nil // what arrived while it waited for the slot does not count
}
