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
func (p *Pages) facets(w http.ResponseWriter, r *http.Request, v library.View) error {
	if err := p.authorize(r, &v.Dataset); err != nil {
		return herb.Errorf(herb.CodeUnauthenticated, "dataset %s requires a key; open its page and enter one", v.Ref)
	}
	s, _, err := view.ParseState(p.datasetPath(v.Ref), r.URL.RawQuery, v.Fields)
	if err != nil {
		return err
	}
	filters, _ := view.NewFilters(&s, &v.Dataset)
	requested := s.Facets
	s.Facets = nil // the links of the fragment must not repeat what the script requested
	if err := countFilters(r.Context(), &s, v, filters, requested); err != nil {
		return err
	}
	filters = slices.DeleteFunc(filters, func(f view.Filter) bool { return f.Counts == nil })
	setCaching(w, &v.Dataset)
	p.setHeaders(w.Header(), false)
	w.Header().Set("X-Robots-Tag", "noindex")
	return p.templates["browser"].ExecuteTemplate(w, "facets", filters)
}

// countFilters sets the counts of the requested filters. The counts of a field ignore the filter of that
// field; fields without a filter are counted together.
func countFilters(ctx context.Context, s *view.State, v library.View, filters []view.Filter, requested []string) error {
	var unfiltered []*view.Filter
	for i := range filters {
		f := &filters[i]
		switch {
		case f.Mode == view.ModePrefix || !slices.Contains(requested, f.Name):
		case f.Active == 0:
			unfiltered = append(unfiltered, f)
		default:
			if err := count(ctx, s, v, s.WithoutFilter(f.Index), f); err != nil {
				return err
			}
		}
	}
	return count(ctx, s, v, s.AnyPage(), unfiltered[:min(len(unfiltered), maxFacetFields)]...)
}

// count counts the values of fields in a listing.
func count(ctx context.Context, s *view.State, v library.View, listing query.Params, filters ...*view.Filter) error {
	req, err := query.Parse(listing.Without(query.ParamPerPage, query.ParamSort, query.ParamOrder).Encode(), v.Fields)
	if err != nil || len(filters) == 0 {
		return err
	}
	facets := &query.FacetRequest{Request: req, Top: view.FacetValues, Buckets: view.FacetBuckets}
	for _, f := range filters {
		facets.Fields = append(facets.Fields, f.Index)
	}
	found, err := v.Facets(ctx, facets)
	if err != nil {
		return err
	}
	for i, f := range filters {
		f.SetCounts(s, found.Fields[i])
	}
	return nil
}
