package web

import (
	"context"
	"net/http"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/distributions"
	"herbarium/internal/web/view/filters"
	"herbarium/internal/web/view/maps"
	"herbarium/internal/web/view/state"
	"herbarium/internal/web/view/tables"
)

// fragment returns a handler of a part of a page, which the script requests with the query of the
// page and inserts into it. template is the name of its template, and build returns the data.
func (p *browser) fragment(template string, build func(context.Context, *state.State, datasetView) (any, error)) httpapi.PageHandler {
	return p.dataset(func(w http.ResponseWriter, r *http.Request, v datasetView) error {
		if v.Denied != nil {
			return v.Denied
		}
		s, _, err := p.parseState(v)
		if err != nil {
			return err
		}
		data, err := build(r.Context(), &s, v)
		if err != nil {
			return err
		}
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("X-Robots-Tag", "noindex")
		return p.execute(w, "browser", template, data)
	})
}

// buildFields builds the lists of columns that contain a text, for the menus of a page.
func buildFields(_ context.Context, s *state.State, _ datasetView) (any, error) {
	return struct{ Columns, Filters filters.FieldMenu }{filters.NewColumnMenu(s), filters.NewFilterMenu(s)}, nil
}

// buildFacets builds the values of the filters that the query names.
func buildFacets(ctx context.Context, s *state.State, v datasetView) (any, error) {
	const maxForms = 8 // that one request counts
	var forms []*filters.Filter
	for _, name := range s.Facets[:min(len(s.Facets), maxForms)] {
		if i := herb.FieldIndex(v.Fields, name); v.Fields[i].Filterable {
			form := filters.NewFilter(s, i)
			forms = append(forms, &form)
		}
	}
	return forms, countValues(ctx, s, v, forms)
}

// countValues sets the values of filters. The counts of a field ignore the filter of that field.
func countValues(ctx context.Context, s *state.State, v datasetView, forms []*filters.Filter) error {
	if len(forms) == 0 {
		return nil
	}
	req, err := selectRows(s.Listing, v.Fields)
	if err != nil {
		return err
	}
	for _, form := range forms {
		if form.Mode != columns.ModeValues {
			continue
		}
		top := filters.FilterValues
		if s.More {
			top = filters.MoreFilterValues
		}
		found, err := v.Facets(ctx, &query.FacetRequest{
			Request: req, Fields: []int{form.Index}, Top: top, Offset: s.Offset, Containing: s.Values, IgnoreOwnFilter: true,
		})
		if err != nil {
			return err
		}
		form.SetCounts(s, found.Fields[0])
	}
	return nil
}

// selectRows parses the filters and the search of a listing.
func selectRows(listing query.Params, fields []herb.Field) (*query.Request, error) {
	return query.Of(listing.Without(query.ParamPage, query.ParamPerPage, query.ParamSort, query.ParamOrder)).Listing(fields, herb.Order{})
}

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

// paramSparkVersion in the URL of a chart makes it a different one for each version, so that
// browsers cache it.
const paramSparkVersion = "v"

// spark serves the chart of a dataset in the catalogue. It is an image that browsers load when it
// comes into view, so that the catalogue opens no datasets itself.
func (p *browser) spark(w http.ResponseWriter, r *http.Request, v datasetView) error {
	if v.Denied != nil {
		return v.Denied
	}
	var image any
	template, err := "spark", error(nil)
	pairs, column := columns.MapPairs(&v.Dataset), distributions.SparkColumn(&v.Dataset)
	switch {
	case len(pairs) > 0:
		template = "sparkmap"
		image, err = v.sparkDots(r.Context(), pairs[0])
	case column >= 0:
		var facets []query.Facet
		if facets, err = countAll(r.Context(), v, []int{column}); err == nil {
			image = distributions.NewSpark(facets[0])
		}
	default:
		image = []distributions.Bar(nil)
	}
	if err != nil {
		return err
	}
	h := w.Header()
	v.cacheImage(h, v.Query.Get(paramSparkVersion))
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Content-Security-Policy", "default-src 'none'")
	return p.execute(w, "catalogue", template, image)
}

// sparkDots returns the small map of all rows.
func (v datasetView) sparkDots(ctx context.Context, pair columns.Pair) (dots maps.SparkDots, err error) {
	all, err := selectRows(nil, v.Fields)
	if err != nil {
		return dots, err
	}
	q, err := v.mapRequest(ctx, &state.State{}, pair, all, maps.SparkColumns)
	if err != nil {
		return dots, err
	}
	grid, err := v.mapGrid(ctx, pair, q)
	return maps.NewSparkDots(q, grid), err
}

// cacheImage lets caches store an image without revalidation if its URL names the version that it
// shows, unless the image required a key.
func (v datasetView) cacheImage(h http.Header, version string) {
	if version == v.Version && v.Access != herb.AccessKey {
		h.Set("Cache-Control", "public, max-age=86400")
	}
}
