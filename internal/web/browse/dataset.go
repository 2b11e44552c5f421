package browse

import (
	"fmt"
	"net/http"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/httpapi/gate"
	"herbarium/internal/query"
	"herbarium/internal/versions"
	"herbarium/internal/web/drafts"
	"herbarium/internal/web/site"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/state"
)

// datasetView is the version of a dataset that a page shows.
type datasetView struct {
	gate.DatasetView
	columns *columns.Dataset
	results *results
}

// dataset returns a handler that calls handle with the dataset that the path names.
func (p *datasetPages) dataset(handle func(*httpapi.Page, *http.Request, datasetView) error) httpapi.PageHandler {
	return httpapi.PageHandler{ServeDataset: func(w *httpapi.Page, r *http.Request, v gate.DatasetView) error {
		view := p.viewOf(v, &results{})
		defer view.results.free()
		return handle(w, r, view)
	}}
}

// viewOf returns a version with what its columns mean.
func (p *datasetPages) viewOf(v gate.DatasetView, results *results) datasetView {
	return datasetView{v, p.columns.Read(&v.Dataset), results}
}

// parseState reads the state of the table of a dataset from the URL.
func (p *datasetPages) parseState(r *http.Request, v datasetView) (s state.State, canonical bool, err error) {
	if site.IsEmbed(r) {
		s, canonical, err = state.ParseEmbed(p.EmbedPath(v.Ref), v.Query, v.columns)
	} else {
		s, canonical, err = state.ParseState(p.DatasetPath(v.Ref), v.Query, v.columns)
	}
	s.Version = v.Pinned
	if p.imageFolder(v) != "" {
		s.Files = p.DatasetPath(v.Ref) + "/files/"
	}
	return s, canonical, err
}

// head returns the head of a page of a dataset.
func (p *datasetPages) head(w *httpapi.Page, r *http.Request, v datasetView, tab string) (datasets.Head, error) {
	h := datasets.NewHead(v.columns, p.DatasetPath(v.Ref), v.Pinned, tab)
	h.Unlocked = h.Locked && v.Denied == nil
	if v.Version != v.Live {
		history, err := p.visibleHistory(r.Context(), w, v.Ref)
		if err != nil {
			return h, err
		}
		at := slices.IndexFunc(history, func(i versions.Version) bool { return i.Version == v.Version })
		h.Older = fmt.Sprintf("Version %d of %d", len(history)-at, len(history))
	}
	if p.drafts.MaySeePublish(w, r, v.Ref) {
		h.Publish = state.Join(p.Base+site.PathPublish,
			query.Params{{Name: drafts.FieldNamespace, Value: v.Ref.Namespace},
				{Name: drafts.FieldDataset, Value: v.Ref.Name}}.Encode())
		w.SetPrivate()
		var err error
		h.Done, err = p.drafts.TakeDone(w, r, v.DatasetView)
		if err != nil {
			return h, err
		}
	}
	rejections, err := p.Rejections(w, r)
	if e, ok := rejections[v.Ref]; ok {
		h.Rejected = &e
		w.SetPrivate()
	}
	return h, err
}

// renderDocument writes a page of a dataset that is read like a document. Its template and its path
// have the name of its tab.
func (p *datasetPages) renderDocument(w *httpapi.Page, r *http.Request, v datasetView, tab, label string,
	data any) error {
	l := p.Shell(r, datasets.Title(&v.Dataset)+": "+label, datasets.Describe(&v.Dataset))
	l.Framed, l.Feeds = true, datasets.Head{Path: p.DatasetPath(v.Ref), Mutable: v.Ref == herb.PlantsRef}.Feeds()
	if v.Pinned == "" {
		l.Canonical = p.Origin(r) + site.PathDatasets + v.Ref.String() + "/" + tab
	}
	return p.Render(w, tab, l, data)
}
