package web

import (
	"net/http"

	"herbarium/internal/herb"
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
	library.VersionInfo
	MoreColumns int // of the report, not shown
}

// versions serves the versions of a dataset.
func (p *Pages) versions(w http.ResponseWriter, r *http.Request, v library.View) error {
	versions, err := p.opts.Library.DescribeVersions(r.Context(), v.Ref)
	if err != nil {
		return err
	}
	d := &v.Dataset
	h := history{Head: p.head(d, "versions"), Hidden: p.authorize(r, d) != nil}
	h.Head.Unlocked = h.Head.Locked && !h.Hidden
	for _, e := range versions {
		v := version{VersionInfo: e}
		if h.Hidden || !h.Head.Locked && e.Access == herb.AccessKey { // an open dataset may have been protected before
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
	l.Canonical = p.origin(r) + pathDatasets + v.Ref.String() + "/versions"
	l.Framed = true
	setCaching(w, d)
	if err := p.setRejection(w, r, &h.Head); err != nil {
		return err
	}
	return p.render(w, "versions", http.StatusOK, l, &h)
}
