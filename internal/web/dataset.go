package web

import (
	"net/http"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/web/view"
)

func (p *Pages) datasetPath(ref herb.Ref) string { return p.base + pathDatasets + ref.String() }

// listingURL returns the absolute URL of the listing of a dataset.
func (p *Pages) listingURL(r *http.Request, ref herb.Ref) string {
	return p.origin(r) + pathAPI + ref.String() + "/data"
}

// dataset returns a handler that calls handle with the dataset that the path names.
func (p *Pages) dataset(handle func(http.ResponseWriter, *http.Request, library.View) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		ref := refOf(r)
		if !herb.ValidName(ref.Namespace) || !herb.ValidName(ref.Name) {
			return herb.Errorf(herb.CodeNotFound, "no such dataset; the catalogue lists all datasets")
		}
		v, err := p.opts.Library.Acquire(r.Context(), ref)
		if err != nil {
			return err
		}
		defer v.Release()
		return handle(w, r, v)
	}
}

// parseState reads the state of the table of a dataset from a query string.
func (p *Pages) parseState(rawQuery string, d *herb.Dataset) (s view.State, canonical bool, err error) {
	s, canonical, err = view.ParseState(p.datasetPath(d.Ref), rawQuery, d)
	if p.opts.Folder(d.Ref) != "" {
		s.Files = s.Path + "/files/"
	}
	return s, canonical, err
}

// head returns the head of a page of a dataset.
func (p *Pages) head(d *herb.Dataset, tab string) view.Head {
	return view.NewHead(d, p.base, p.datasetPath(d.Ref), tab)
}

func refOf(r *http.Request) herb.Ref {
	return herb.Ref{Namespace: r.PathValue("namespace"), Name: r.PathValue("dataset")}
}

// setCaching requires caches to revalidate pages of a dataset. Pages that required a key are cached only by the browser.
func setCaching(w http.ResponseWriter, d *herb.Dataset) {
	if d.Access == herb.AccessKey {
		setPrivate(w)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
}

// setPrivate restricts the caching of a page to the browser, because it depends on the key of the visitor.
func setPrivate(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "private, no-cache")
	w.Header().Set("Vary", "Cookie, Accept, Accept-Encoding")
}
