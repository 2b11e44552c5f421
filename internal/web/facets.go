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

// maxFacetFields bounds the filters that one request counts without a filter of their own.
const maxFacetFields = 16

// facets serves the counts of the filters that the URL names, for the script to insert into a page.
func (p *Pages) facets(w http.ResponseWriter, r *http.Request) error {
	snap, err := p.acquire(r)
	if err != nil {
		return err
	}
	defer snap.Release()
	if err := p.authorize(r, &snap.Dataset); err != nil {
		return herb.Errorf(herb.CodeUnauthenticated, "dataset %s requires a key; open its page and enter one", snap.Ref)
	}
	s, _, err := view.ParseState(p.datasetPath(snap.Ref), r.URL.RawQuery, snap.Fields)
	if err != nil {
		return err
	}
	filters, _ := view.NewFilters(&s, &snap.Dataset)
	requested := s.Facets
	s.Facets = nil // the links of the fragment must not repeat what the script requested
	if err := countFilters(r.Context(), &s, snap, filters, requested); err != nil {
		return err
	}
	filters = slices.DeleteFunc(filters, func(f view.Filter) bool { return f.Counts == nil })
	setCaching(w, &snap.Dataset)
	p.setHeaders(w.Header(), false)
	w.Header().Set("X-Robots-Tag", "noindex")
	return p.templates["browser"].ExecuteTemplate(w, "facets", filters)
}

// countFilters sets the counts of the requested filters. The counts of a field ignore the filter of that
// field; fields without a filter are counted together.
func countFilters(ctx context.Context, s *view.State, snap library.View, filters []view.Filter, requested []string) error {
	var unfiltered []*view.Filter
	for i := range filters {
		f := &filters[i]
		switch {
		case f.Mode == view.ModePrefix || !slices.Contains(requested, f.Name):
		case f.Active == 0:
			unfiltered = append(unfiltered, f)
		default:
			if err := count(ctx, s, snap, s.WithoutFilter(f.Index), f); err != nil {
				return err
			}
		}
	}
	return count(ctx, s, snap, s.AnyPage(), unfiltered[:min(len(unfiltered), maxFacetFields)]...)
}

// count counts the values of fields in a listing.
func count(ctx context.Context, s *view.State, snap library.View, listing query.Params, filters ...*view.Filter) error {
	req, err := query.Parse(listing.Without(query.ParamPerPage, query.ParamSort, query.ParamOrder).Encode(), snap.Fields)
	if err != nil || len(filters) == 0 {
		return err
	}
	facets := &query.FacetRequest{Request: req, Top: view.FacetValues, Buckets: view.FacetBuckets}
	for _, f := range filters {
		facets.Fields = append(facets.Fields, f.Index)
	}
	found, err := snap.Facets(ctx, facets)
	if err != nil {
		return err
	}
	for i, f := range filters {
		f.SetCounts(s, found.Fields[i])
	}
	return nil
}
