package web

import (
	"fmt"
	"net/http"
	"slices"

	"herbarium/internal/httpapi"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/state"
)

// datasetView is the version of a dataset that a page shows.
type datasetView struct{ httpapi.DatasetView }

// dataset returns a handler that calls handle with the dataset that the path names.
func (p *browser) dataset(handle func(http.ResponseWriter, *http.Request, datasetView) error) httpapi.PageHandler {
	return httpapi.PageHandler{ServeDataset: func(w http.ResponseWriter, r *http.Request, v httpapi.DatasetView) error {
		return handle(w, r, datasetView{v})
	}}
}

// parseState reads the state of the table of a dataset from the URL.
func (p *browser) parseState(v datasetView) (s state.State, canonical bool, err error) {
	s, canonical, err = state.ParseState(p.datasetPath(v.Ref), v.Query, &v.Dataset)
	s.Version = v.Pinned
	if p.imageFolder(v) != "" {
		s.Files = s.Path + "/files/"
	}
	return s, canonical, err
}

// head returns the head of a page of a dataset.
func (p *browser) head(w http.ResponseWriter, r *http.Request, v datasetView, tab string) (datasets.Head, error) {
	h := datasets.NewHead(&v.Dataset, p.datasetPath(v.Ref), v.Pinned, tab)
	h.Unlocked = h.Locked && v.Denied == nil
	if v.Version != v.Live {
		versions, err := p.history(r.Context(), v.Ref)
		if err != nil {
			return h, err
		}
		at := slices.IndexFunc(versions, func(i library.VersionInfo) bool { return i.Version == v.Version })
		h.Older = fmt.Sprintf("Version %d of %d", len(versions)-at, len(versions))
	}
	if p.publishing.maySeePublish(r, v.Ref) {
		h.Publish = state.Join(p.base+pathPublish, query.Params{{Name: fieldNamespace, Value: v.Ref.Namespace}, {Name: fieldDataset, Value: v.Ref.Name}}.Encode())
		httpapi.SetPrivate(w.Header())
		var err error
		if h.Done, err = p.publishing.takeDone(w, r, v.DatasetView); err != nil {
			return h, err
		}
	}
	rejections, err := p.rejections(r)
	if e, ok := rejections[v.Ref]; ok {
		h.Rejected = &e
		httpapi.SetPrivate(w.Header())
	}
	return h, err
}

// renderDocument writes a page of a dataset that is read like a document. Its template and its path
// have the name of its tab.
func (p *browser) renderDocument(w http.ResponseWriter, r *http.Request, v datasetView, tab, label string, data any) error {
	l := p.layout(r, datasets.Title(&v.Dataset)+": "+label, datasets.Describe(&v.Dataset))
	l.Framed = true
	if v.Pinned == "" {
		l.Canonical = p.origin(r) + pathDatasets + v.Ref.String() + "/" + tab
	}
	return p.render(w, tab, l, data)
}
