package web

import (
	"context"
	"net/http"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/web/view"
)

// mapPage is the map of a dataset.
type mapPage struct {
	browsePage
	Map *view.Map
}

// mapOf serves the map.
func (p *Pages) mapOf(w http.ResponseWriter, r *http.Request, v library.View) error {
	pairs := view.MapPairs(&v.Dataset)
	if len(pairs) == 0 {
		return herb.Errorf(herb.CodeNotFound, "dataset %s has no map, because it has no fields with latitudes and longitudes", v.Ref)
	}
	s, canonical, parseErr := p.parseState(r.URL.RawQuery, &v.Dataset)
	s.Path += "/map"
	if !canonical {
		return redirect(w, s.URL())
	}
	if err := p.authorize(r, &v.Dataset); err != nil {
		return p.requestKey(w, r, &v.Dataset, r.URL.RawQuery, err)
	}
	req, shown, invalid, err := resolve(s, parseErr, v.Order)
	if err != nil {
		return err
	}
	setCaching(w, &v.Dataset)
	status := http.StatusOK
	if invalid != nil {
		status = http.StatusBadRequest
	} else if p.notModified(w, r, &v.Dataset) {
		return nil
	}
	page := mapPage{}
	if page.controls, err = p.controls(r.Context(), "map", &s, &shown, v, invalid); err != nil {
		return err
	}
	if err := page.list(r.Context(), &shown, v, req); err != nil {
		return err
	}
	page.Pager = nil // a map shows all rows
	pair := max(0, slices.IndexFunc(pairs, func(pair view.Pair) bool { return v.Fields[pair.Latitude].Name == shown.Map }))
	if page.Map, err = drawMap(r.Context(), &shown, v, req, pairs, pair); err != nil {
		return err
	}
	page.Map.SetSources(&shown, page.Head.Path)
	if err := page.setCall(p, r, &shown, v); err != nil {
		return err
	}
	l := p.layout(r, "Map: "+view.Title(&v.Dataset), view.Describe(&v.Dataset))
	l.Images = view.HasImages(&v.Dataset)
	l.Framed = true
	return p.render(w, "map", status, l, &page)
}

// drawMap counts the rows of a listing in the cells of a map that shows all of them.
func drawMap(ctx context.Context, s *view.State, v library.View, req *query.Request, pairs []view.Pair, pair int) (*view.Map, error) {
	chosen := pairs[pair]
	ranges, err := v.Facets(ctx, &query.FacetRequest{Request: req, Fields: []int{chosen.Latitude, chosen.Longitude}})
	if err != nil {
		return nil, err
	}
	q := view.NewMapRequest(&v.Dataset, chosen, ranges.Fields[0], ranges.Fields[1], req)
	grid, err := v.Grid(ctx, q)
	if err != nil {
		return nil, err
	}
	m := view.NewMap(s, pairs, pair, q, grid)
	m.SetOpen(s, req)
	return m, nil
}
