package browse

import (
	"context"

	"herbarium/internal/query"
	"herbarium/internal/web/view/distributions"
	"herbarium/internal/web/view/state"
	"herbarium/internal/web/view/tables"
)

func buildDistributions(ctx context.Context, s *state.State, v datasetView) (any, error) {
	return countColumns(ctx, s, v, s.Counted)
}

func addDistributions(ctx context.Context, s *state.State, v datasetView, t *tables.Table) error {
	var columns []int
	for _, h := range t.Headers {
		columns = append(columns, h.Index)
	}
	found, err := countColumns(ctx, s, v, columns)
	for i := range found {
		t.Headers[i].Distribution = found[i]
	}
	return err
}

// countColumns returns the distributions of columns, as many as one request may count.
func countColumns(ctx context.Context, s *state.State, v datasetView,
	columns []int) ([]distributions.Distribution, error) {
	req, err := selectRows(s.Listing, v.Fields)
	if err != nil {
		return nil, err
	}
	filtered := !req.SelectsAll()
	drawn := make([]distributions.Distribution, min(len(columns), query.MaxFacetFields))
	var counted []*distributions.Distribution
	var fields []int
	for k := range drawn {
		drawn[k] = distributions.New(s, columns[k])
		drawn[k].Filtered = filtered
		if drawn[k].Kind == "" {
			counted, fields = append(counted, &drawn[k]), append(fields, columns[k])
		}
	}
	if len(counted) == 0 {
		return drawn, nil
	}
	found, err := countFields(ctx, v, req, fields)
	if err != nil {
		return nil, err
	}
	var all []query.Facet
	if filtered {
		all, err = countAll(ctx, v, fields)
		if err != nil {
			return nil, err
		}
	}
	for i, c := range counted {
		c.SetCounts(s, found[i])
		if filtered {
			c.SetGhosts(s, all[i])
		}
	}
	return drawn, nil
}

// countAll returns the facets of all rows, for distributions.
func countAll(ctx context.Context, v datasetView, fields []int) ([]query.Facet, error) {
	all, err := selectRows(nil, v.Fields)
	if err != nil {
		return nil, err
	}
	return countFields(ctx, v, all, fields)
}

// countFields returns the facets of the rows of a request, for distributions.
func countFields(ctx context.Context, v datasetView, req *query.Request, fields []int) ([]query.Facet, error) {
	found, err := v.Facets(ctx, &query.FacetRequest{
		Request: req, Fields: fields, Top: distributions.Values, Buckets: distributions.Buckets, Scale: query.ScaleAuto,
		AllEdges: true, IgnoreOwnFilter: true,
	})
	return found.Fields, err
}
