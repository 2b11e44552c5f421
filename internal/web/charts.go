package web

import (
	"context"
	"net/http"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/web/view"
)

// paramColumns names the columns whose charts the script requests: repeated, or several names with commas between them.
const paramColumns = "_columns"

// charts serves the charts of columns, for the script to insert into the headers of a page.
func (p *Pages) charts(w http.ResponseWriter, r *http.Request, v library.View) error {
	if err := p.authorize(r, &v.Dataset); err != nil {
		return keyRequired(v.Ref)
	}
	params, err := query.ParseParams(r.URL.RawQuery)
	if err != nil {
		return err
	}
	s, _, err := p.parseState(params.Without(paramColumns).Encode(), &v.Dataset)
	if err != nil {
		return err
	}
	var columns []int
	for _, param := range params {
		if param.Name == paramColumns {
			columns = append(columns, view.FieldsNamed(v.Fields, param.Value)...)
		}
	}
	charts, err := p.countColumns(r.Context(), &s, v, columns)
	if err != nil {
		return err
	}
	p.setFragmentHeaders(w, &v.Dataset)
	return p.templates["browser"].ExecuteTemplate(w, "charts", charts)
}

// addCharts sets the charts of a table.
func (p *Pages) addCharts(ctx context.Context, s *view.State, v library.View, t *view.Table) error {
	var columns []int
	for _, h := range t.Headers {
		columns = append(columns, h.Index)
	}
	charts, err := p.countColumns(ctx, s, v, columns)
	for i := range charts {
		t.Headers[i].Chart = charts[i]
	}
	return err
}

// countColumns returns the charts of columns, as many as one request may count.
func (p *Pages) countColumns(ctx context.Context, s *view.State, v library.View, columns []int) ([]view.Chart, error) {
	charts := make([]view.Chart, min(len(columns), query.MaxFacetFields))
	var counted []int // positions in charts
	for k := range charts {
		kind, note := view.ChartKind(&v.Dataset, columns[k])
		if kind == "note" {
			charts[k] = view.NewNote(&v.Dataset, columns[k], note)
			continue
		}
		counted = append(counted, k)
	}
	if len(counted) == 0 {
		return charts, nil
	}
	req, err := selectRows(s.AnyPage(), v.Fields)
	if err != nil {
		return nil, err
	}
	var fields []int
	for _, k := range counted {
		fields = append(fields, columns[k])
	}
	all, err := p.countAll(ctx, v, fields)
	if err != nil {
		return nil, err
	}
	if len(req.Conditions) == 0 && req.Search == nil {
		for i, k := range counted {
			charts[k] = view.NewChart(s, columns[k], all[i], nil)
		}
		return charts, nil
	}
	found, err := v.Facets(ctx, chartRequest(req, fields))
	if err != nil {
		return nil, err
	}
	for i, k := range counted {
		charts[k] = view.NewChart(s, columns[k], found.Fields[i], &all[i])
	}
	return charts, nil
}

func chartRequest(req *query.Request, fields []int) *query.FacetRequest {
	return &query.FacetRequest{
		Request: req, Fields: fields, Top: view.ChartValues, Buckets: view.ChartBuckets, Scale: query.ScaleAuto,
		AllEdges: true, IgnoreOwnFilter: true,
	}
}

// countAll returns the facets of all rows, which are cached by version.
func (p *Pages) countAll(ctx context.Context, v library.View, fields []int) ([]query.Facet, error) {
	facets := make([]query.Facet, len(fields))
	var missing, at []int
	for i, f := range fields {
		var ok bool
		if facets[i], ok = p.facetCache.get(facetKey{v.Ref, v.Version, f}); !ok {
			missing, at = append(missing, f), append(at, i)
		}
	}
	if len(missing) == 0 {
		return facets, nil
	}
	req, err := query.Parse("", v.Fields)
	if err != nil {
		return nil, err
	}
	found, err := v.Facets(ctx, chartRequest(req, missing))
	if err != nil {
		return nil, err
	}
	for k, i := range at {
		facets[i] = found.Fields[k]
		p.facetCache.put(facetKey{v.Ref, v.Version, fields[i]}, facets[i])
	}
	return facets, nil
}

// facetKey identifies the facet of a field over all rows of a version.
type facetKey struct {
	ref     herb.Ref
	version string
	field   int
}
