package web

import (
	"net/http"

	"herbarium/internal/herb"
	"herbarium/internal/library"
)

func (p *Pages) datasetPath(ref herb.Ref) string { return p.base + pathDatasets + ref.String() }

// listingURL returns the absolute URL of the listing of a dataset.
func (p *Pages) listingURL(r *http.Request, ref herb.Ref) string {
	return p.origin(r) + pathAPI + ref.String() + "/data"
}

// acquire returns the dataset that the path names. The caller releases it.
func (p *Pages) acquire(r *http.Request) (library.View, error) {
	ref := refOf(r)
	if !herb.ValidName(ref.Namespace) || !herb.ValidName(ref.Name) {
		return library.View{}, herb.Errorf(herb.CodeNotFound, "no such dataset; the catalogue lists all datasets")
	}
	return p.opts.Library.Acquire(r.Context(), ref)
}

func refOf(r *http.Request) herb.Ref {
	return herb.Ref{Namespace: r.PathValue("namespace"), Name: r.PathValue("dataset")}
}

// setCaching requires caches to revalidate pages of a dataset. Pages that required a key are cached only by the browser.
func setCaching(w http.ResponseWriter, d *herb.Dataset) {
	h := w.Header()
	if d.Access == herb.AccessKey {
		h.Set("Cache-Control", "private, no-cache")
		h.Set("Vary", "Cookie, Accept, Accept-Encoding")
		return
	}
	h.Set("Cache-Control", "no-cache")
}
