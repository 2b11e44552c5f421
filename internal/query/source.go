package query

import "context"

// Source answers queries about one dataset.
type Source interface {
	List(ctx context.Context, r *Request) (Page, error)
	// Stream returns all matching records, regardless of the page that the request names.
	Stream(ctx context.Context, r *Request) (Stream, error)
	// Facets counts the values of fields among the matching records.
	Facets(ctx context.Context, r *FacetRequest) (Facets, error)
	// Grid counts the matching records in the cells of a grid over two fields.
	Grid(ctx context.Context, r *GridRequest) (Grid, error)
}
