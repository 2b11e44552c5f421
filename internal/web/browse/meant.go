package browse

import (
	"context"

	"herbarium/internal/httpapi/operations"
	"herbarium/internal/query"
	"herbarium/internal/web/view/filters"
	"herbarium/internal/web/view/state"
)

// findMeant returns the listings with rows that a visitor of one without rows may have meant.
func findMeant(ctx context.Context, s *state.State, v datasetView, req *query.Request) (meant []filters.Meant,
	err error) {
	found, err := operations.Suggest(ctx, &v.View, req, s.AnyPage())
	for _, listing := range found {
		meant = append(meant, filters.NewMeant(s, listing.Params, listing.Changed, listing.Total))
	}
	return meant, err
}
