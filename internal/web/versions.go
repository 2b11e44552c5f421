package web

import (
	"net/http"

	"herbarium/internal/library"
	"herbarium/internal/web/view"
)

// history lists the versions of a dataset.
type history struct {
	Head     view.Head
	Versions []version
	Hidden   bool // publish reports are not shown, because they quote values and the browser has no valid key
}

// version is a version of a dataset with its changes.
type version struct {
	library.Edition
	MoreColumns int // of the report, not shown
}

// versions serves the versions of a dataset.
func (p *Pages) versions(w http.ResponseWriter, r *http.Request) error {
	snap, err := p.acquire(r)
	if err != nil {
		return err
	}
	defer snap.Release()
	editions, err := p.opts.Library.Editions(r.Context(), snap.Ref)
	if err != nil {
		return err
	}
	d := &snap.Dataset
	h := history{Head: view.NewHead(d, p.base, p.datasetPath(d.Ref), "versions"), Hidden: p.authorize(r, d) != nil}
	h.Head.Unlocked = h.Head.Locked && !h.Hidden
	for _, e := range editions {
		v := version{Edition: e}
		if h.Hidden {
			v.Report = nil
		}
		if v.Report != nil && len(v.Report.Columns) > maxColumnDocs {
			short := *v.Report
			v.MoreColumns = len(short.Columns) - maxColumnDocs
			short.Columns = short.Columns[:maxColumnDocs]
			v.Report = &short
		}
		h.Versions = append(h.Versions, v)
	}
	l := p.layout(r, view.Title(d)+": versions", view.Describe(d))
	l.Canonical = p.origin(r) + pathDatasets + snap.Ref.String() + "/versions"
	setCaching(w, d)
	return p.render(w, "versions", http.StatusOK, l, &h)
}
