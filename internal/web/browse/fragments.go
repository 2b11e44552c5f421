package browse

import (
	"context"
	"net/http"

	"herbarium/internal/httpapi"
	"herbarium/internal/web/view/filters"
	"herbarium/internal/web/view/state"
)

// fragment returns a handler of a part of a page, which the script requests with the query of the
// page and inserts into it. template is the name of its template, among those of a page, and build
// returns the data.
func (p *datasetPages) fragment(page, template string, build func(context.Context, *state.State, datasetView) (any,
	error)) httpapi.PageHandler {
	return p.dataset(func(w *httpapi.Page, r *http.Request, v datasetView) error {
		if v.Denied != nil {
			return v.Denied
		}
		s, _, err := p.parseState(r, v)
		if err != nil {
			return err
		}
		data, err := build(r.Context(), &s, v)
		if err != nil {
			return err
		}
		return p.executeFragment(w, page, template, data)
	})
}

// executeFragment writes a part of a page with a template of that page.
func (p *datasetPages) executeFragment(w *httpapi.Page, page, template string, data any) error {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Robots-Tag", "noindex")
	return p.Execute(w, page, template, data)
}

// buildFields builds the lists of columns that contain a text, for the menus of a page.
func buildFields(_ context.Context, s *state.State, _ datasetView) (any, error) {
	return struct{ Columns, Filters filters.FieldMenu }{filters.NewColumnMenu(s), filters.NewFilterMenu(s)}, nil
}
