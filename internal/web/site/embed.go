package site

import (
	"net/http"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/httpapi/gate"
	"herbarium/internal/query"
	"herbarium/internal/web/view/state"
)

// isEmbed reports whether a request is for a page that other sites show in a frame. Such a page
// depends on nothing that the browser stores: neither keys nor the theme are read.
func isEmbed(r *http.Request) bool {
	return r.URL.RawQuery != "" && query.Split(r.URL.RawQuery).Get(state.ParamEmbed) != ""
}

// WithoutEmbed returns a handler that rejects state.ParamEmbed: no other site can show its page.
func WithoutEmbed(h httpapi.PageHandler) httpapi.PageHandler {
	check := func(w *httpapi.Page) error {
		if w.QueryString().Get(state.ParamEmbed) == "" {
			return nil
		}
		return herb.Invalidf("%s is for the table, the map and the chart of a dataset; other pages cannot be embedded", state.ParamEmbed)
	}
	if serve := h.Serve; serve != nil {
		h.Serve = func(w *httpapi.Page, r *http.Request) error {
			if err := check(w); err != nil {
				return err
			}
			return serve(w, r)
		}
	}
	if serve := h.ServeDataset; serve != nil {
		h.ServeDataset = func(w *httpapi.Page, r *http.Request, v gate.DatasetView) error {
			if err := check(w); err != nil {
				return err
			}
			return serve(w, r, v)
		}
	}
	return h
}
