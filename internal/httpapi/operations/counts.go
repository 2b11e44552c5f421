package operations

import (
	"context"

	"herbarium/internal/library"
	"herbarium/internal/query"
)

// Facets counts the values of fields, with their category labels. The caller must release the
// result.
func Facets(ctx context.Context, v *library.View, req *query.FacetRequest) (query.Facets, func(), error) {
	return count(ctx, req.MaxBytes(), func() (query.Facets, error) {
		found, err := v.Facets(ctx, req)
		if err == nil {
			req.AddLabels(&found)
		}
		return found, err
	})
}

// Grid counts the records in the cells of a grid. The caller must release the result.
func Grid(ctx context.Context, v *library.View, req *query.GridRequest) (query.Grid, func(), error) {
	return count(ctx, req.MaxBytes(), func() (query.Grid, error) { return v.Grid(ctx, req) })
}

// count returns the result of a query that needs up to some bytes.
func count[Result any](
	ctx context.Context, bytes int, run func() (Result, error),
) (found Result, release func(), err error) {
	release, err = reserve(ctx, bytes)
	if err != nil {
		return found, nil, err
	}
	found, err = run()
	if err != nil {
		release()
	}
	return found, release, err
}
