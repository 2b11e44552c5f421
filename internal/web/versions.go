package web

import (
	"context"
	"fmt"
	"net/http"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/web/view"
)

// history lists the versions of a dataset.
type history struct {
	Head     view.Head
	Versions []version
	Hidden   bool             // publish reports are not shown, because they quote values and the browser has no valid key
	Rejected herb.SourceError // of the newest source; zero: it was not rejected. Without a message: not shown to this visitor
}

// version is a version of a dataset with its changes.
type version struct {
	library.VersionInfo
	MoreColumns int // of the report, not shown
}

// rejection returns what a visitor may know of the newest source of a dataset. A message quotes values of the source. The
// access that the source asks for may be unknown, so that only a visitor with a key for a protected dataset reads it; the
// pages of open datasets are public and say only that the source was rejected.
func (p *Pages) rejection(ctx context.Context, head view.Head) (herb.SourceError, error) {
	if head.Locked && !head.Unlocked {
		return herb.SourceError{}, nil
	}
	all, err := p.sourceErrors(ctx)
	if err != nil {
		return herb.SourceError{}, fmt.Errorf("read source errors: %w", err)
	}
	e := all[head.Ref]
	if !head.Unlocked {
		e.Message = ""
	}
	return e, nil
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
	if h.Rejected, err = p.rejection(r.Context(), h.Head); err != nil {
		return err
	}
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
	return p.render(w, "versions", http.StatusOK, l, &h)
}
