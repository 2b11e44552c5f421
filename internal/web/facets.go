package web

import (
	"context"
	"net/http"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/web/view"
)

// facets serves the values of the filters that the URL names, for the script to insert into a page.
func (p *Pages) facets(w http.ResponseWriter, r *http.Request, v library.View) error {
	if err := p.authorize(r, &v.Dataset); err != nil {
		return keyRequired(v.Ref)
	}
	s, _, err := p.parseState(r.URL.RawQuery, &v.Dataset)
	if err != nil {
		return err
	}
	var forms []*view.Filter
	for _, name := range s.Facets[:min(len(s.Facets), maxForms)] {
		if i := herb.FieldIndex(v.Fields, name); v.Fields[i].Filterable {
			form := view.NewFilter(&s, i)
			forms = append(forms, &form)
		}
	}
	if err := countValues(r.Context(), &s, v, forms); err != nil {
		return err
	}
	p.setFragmentHeaders(w, &v.Dataset)
	return p.templates["browser"].ExecuteTemplate(w, "facets", forms)
}

// fields serves the lists of columns that contain a text, for the script to insert into the menus of a page.
func (p *Pages) fields(w http.ResponseWriter, r *http.Request, v library.View) error {
	if err := p.authorize(r, &v.Dataset); err != nil {
		return keyRequired(v.Ref)
	}
	s, _, err := p.parseState(r.URL.RawQuery, &v.Dataset)
	if err != nil {
		return err
	}
	p.setFragmentHeaders(w, &v.Dataset)
	return p.templates["browser"].ExecuteTemplate(w, "fieldlists", struct{ Columns, Filters view.FieldMenu }{view.NewColumnMenu(&s), view.NewFilterMenu(&s)})
}

// maxForms bounds the filters that one request counts.
const maxForms = 8

// countValues sets the values of filters. The counts of a field ignore the filter of that field.
func countValues(ctx context.Context, s *view.State, v library.View, forms []*view.Filter) error {
	if len(forms) == 0 {
		return nil
	}
	req, err := selectRows(s.Listing, v.Fields)
	if err != nil {
		return err
	}
	for _, form := range forms {
		if form.Mode == view.ModeRange {
			continue
		}
		top := view.FilterValues
		if s.More {
			top = view.MoreFilterValues
		}
		found, err := v.Facets(ctx, &query.FacetRequest{
			Request: req, Fields: []int{form.Index}, Top: top, Containing: s.Values, IgnoreOwnFilter: true,
		})
		if err != nil {
			return err
		}
		form.SetCounts(found.Fields[0])
	}
	return nil
}

// selectRows parses the filters and the search of a listing.
func selectRows(listing query.Params, fields []herb.Field) (*query.Request, error) {
	return query.Parse(listing.Without(query.ParamPage, query.ParamPerPage, query.ParamSort, query.ParamOrder).Encode(), fields)
}

// keyRequired is the error of a fragment of a page that requires a key.
func keyRequired(ref herb.Ref) error {
	return herb.Errorf(herb.CodeUnauthenticated, "dataset %s requires a key; open its page and enter one", ref)
}

// setFragmentHeaders sets the headers of a part of a page.
func (p *Pages) setFragmentHeaders(w http.ResponseWriter, d *herb.Dataset) {
	setCaching(w, d)
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Robots-Tag", "noindex")
}
