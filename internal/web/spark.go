package web

import (
	"net/http"

	"herbarium/internal/library"
	"herbarium/internal/web/view"
)

// paramVersion in the URL of a chart makes it a different one for each version, so that browsers cache it.
const paramVersion = "v"

// spark serves the chart of a dataset in the catalogue. It is an image that browsers load when it comes into view, so that the
// catalogue opens no datasets itself.
func (p *Pages) spark(w http.ResponseWriter, r *http.Request, v library.View) error {
	if err := p.authorize(r, &v.Dataset); err != nil {
		return keyRequired(v.Ref)
	}
	var s view.Spark
	if column := view.SparkColumn(&v.Dataset); column >= 0 {
		facets, err := p.countAll(r.Context(), v, []int{column})
		if err != nil {
			return err
		}
		s = view.NewSpark(facets[0])
	}
	setCaching(w, &v.Dataset)
	h := w.Header()
	if r.URL.Query().Get(paramVersion) == v.Version && h.Get("Cache-Control") == "no-cache" {
		h.Set("Cache-Control", "public, max-age=86400")
	}
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Content-Security-Policy", "default-src 'none'")
	return p.templates["catalogue"].ExecuteTemplate(w, "spark", s)
}
