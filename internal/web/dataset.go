package web

import (
	"fmt"
	"net/http"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/web/view"
)

func (p *Pages) datasetPath(ref herb.Ref) string { return p.base + pathDatasets + ref.String() }

// datasetView is the version of a dataset that a page shows.
type datasetView struct {
	library.View
	live   string       // the live version
	pinned string       // the version that the URL names; empty: none
	query  query.String // of the URL, without the version
	denied error        // why the visitor may not see rows; nil: allowed
}

// dataset returns a handler that calls handle with the dataset that the path names, in the version that the query names. A key
// is required if that version or the live one requires it: access can change after a version was published.
func (p *Pages) dataset(handle func(http.ResponseWriter, *http.Request, datasetView) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		ref := refOf(r)
		if !herb.ValidName(ref.Namespace) || !herb.ValidName(ref.Name) {
			return herb.Errorf(herb.CodeNotFound, "no such dataset; the catalogue lists all datasets")
		}
		live, err := p.opts.Library.Acquire(r.Context(), ref)
		if err != nil {
			return err
		}
		defer live.Release()
		v := datasetView{View: live, live: live.Version, denied: p.authorize(r, &live.Dataset)}
		if v.pinned, v.query, err = query.Split(r.URL.RawQuery).CutVersion(); err != nil {
			return err
		}
		if v.pinned != "" && v.denied == nil {
			if v.View, err = p.opts.Library.AcquireVersion(r.Context(), ref, v.pinned); err != nil {
				return err
			}
			defer v.Release()
			if live.Access == herb.AccessKey {
				v.Access = herb.AccessKey
			} else {
				v.denied = p.authorize(r, &v.Dataset)
			}
		}
		return handle(w, r, v)
	}
}

// parseState reads the state of the table of a dataset from the URL.
func (p *Pages) parseState(v datasetView) (s view.State, canonical bool, err error) {
	s, canonical, err = view.ParseState(p.datasetPath(v.Ref), v.query, &v.Dataset)
	s.Version = v.pinned
	if p.opts.Folder(v.Ref) != "" {
		s.Files = s.Path + "/files/"
	}
	return s, canonical, err
}

// head returns the head of a page of a dataset, and sets the headers for caching the page.
func (p *Pages) head(w http.ResponseWriter, r *http.Request, v datasetView, tab string) (view.Head, error) {
	h := view.NewHead(&v.Dataset, p.datasetPath(v.Ref), v.pinned, tab)
	h.Unlocked = h.Locked && v.denied == nil
	setCaching(w, &v.Dataset)
	if v.Version != v.live {
		versions, err := p.opts.Library.History(r.Context(), v.Ref)
		if err != nil {
			return h, err
		}
		at := slices.IndexFunc(versions, func(i library.VersionInfo) bool { return i.Version == v.Version })
		h.Older = fmt.Sprintf("Version %d of %d", len(versions)-at, len(versions))
	}
	rejections, err := p.rejections(r)
	if e, ok := rejections[v.Ref]; ok {
		h.Rejected = &e
		setPrivate(w)
	}
	return h, err
}

// renderDocument writes a page of a dataset that is read like a document. Its template and its path have the name of its tab.
func (p *Pages) renderDocument(w http.ResponseWriter, r *http.Request, v datasetView, tab, label string, data any) error {
	l := p.layout(r, view.Title(&v.Dataset)+": "+label, view.Describe(&v.Dataset))
	l.Framed = true
	if v.pinned == "" {
		l.Canonical = p.origin(r) + pathDatasets + v.Ref.String() + "/" + tab
	}
	return p.render(w, tab, l, data)
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
