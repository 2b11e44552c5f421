package browse

import (
	"context"

	"herbarium/internal/query"
	"herbarium/internal/web/view/distributions"
	"herbarium/internal/web/view/state"
	"herbarium/internal/web/view/tables"
)

func buildCharts(ctx context.Context, s *state.State, v datasetView) (any, error) {
	return countColumns(ctx, s, v, s.Counted)
}

func addCharts(ctx context.Context, s *state.State, v datasetView, t *tables.Table) error {
	var columns []int
	for _, h := range t.Headers {
		columns = append(columns, h.Index)
	}
	charts, err := countColumns(ctx, s, v, columns)
	for i := range charts {
		t.Headers[i].Chart = charts[i]
	}
	return err
}

// countColumns returns the charts of columns, as many as one request may count.
func countColumns(ctx context.Context, s *state.State, v datasetView, columns []int) ([]distributions.Chart, error) {
	req, err := selectRows(s.Listing, v.Fields)
	if err != nil {
		return nil, err
	}
	filtered := len(req.Conditions) > 0 || req.Search != nil
	charts := make([]distributions.Chart, min(len(columns), query.MaxFacetFields))
	var counted []*distributions.Chart
	var fields []int
	for k := range charts {
		charts[k] = distributions.NewChart(s, columns[k])
		if charts[k].Filtered = filtered; charts[k].Kind == "" {
			counted, fields = append(counted, &charts[k]), append(fields, columns[k])
		}
	}
	if len(counted) == 0 {
		return charts, nil
	}
	found, err := countFields(ctx, v, req, fields)
	if err != nil {
		return nil, err
	}
	var all []query.Facet
	if filtered {
		if all, err = countAll(ctx, v, fields); err != nil {
			return nil, err
		}
	}
	for i, c := range counted {
		if c.SetCounts(s, found[i]); filtered {
			c.SetGhosts(s, all[i])
		}
	}
	return charts, nil
}

// countAll returns the facets of all rows, for charts.
func countAll(ctx context.Context, v datasetView, fields []int) ([]query.Facet, error) {
	all, err := selectRows(nil, v.Fields)
	if err != nil {
		return nil, err
	}
	return countFields(ctx, v, all, fields)
}

// countFields returns the facets of the rows of a request, for charts.
func countFields(ctx context.Context, v datasetView, req *query.Request, fields []int) ([]query.Facet, error) {
	found, err := v.Facets(ctx, &query.FacetRequest{
		Request: req, Fields: fields, Top: distributions.ChartValues, Buckets: distributions.ChartBuckets, Scale: query.ScaleAuto, AllEdges: true, IgnoreOwnFilter: true,
	})
	return found.Fields, err
}
