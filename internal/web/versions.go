package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
)

// history is the page of a dataset's versions.
type history struct {
	Head     datasetHead
	Versions []version
	Secret   bool // reports quote values, and there is no key
	Rejected rejection
}

// rejection says that the newest source of the dataset could not be published.
type rejection struct {
	Since   time.Time // zero: it was not rejected
	Message string    // why; empty: not shown to this visitor
}

// version is one of them.
type version struct {
	Name      string
	Published time.Time
	Records   int
	Fields    int
	Live      bool
	First     bool
	Changes   []library.Change
	Report    *herb.Report
	More      int // columns of the report that are too many to be shown
}

// rejection returns what a visitor may know of the newest source of a dataset. A message quotes values of the source. The
// access that the source asks for may be unknown, so that only a visitor with a key for a protected dataset reads it; the
// pages of open datasets are public and say only that the source was rejected.
func (p *Pages) rejection(ctx context.Context, d datasetHead) (rejection, error) {
	if d.Locked && !d.Unlocked {
		return rejection{}, nil
	}
	all, err := p.sourceErrors(ctx)
	if err != nil {
		return rejection{}, fmt.Errorf("reading source errors: %w", err)
	}
	e := all[d.Ref]
	if !d.Unlocked {
		e.Message = ""
	}
	return rejection{e.Since, e.Message}, nil
}

// versions answers with the versions of a dataset.
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
	h := history{Head: p.datasetHead(snap.Dataset, "versions"), Secret: p.admit(r, snap.Dataset) != nil}
	h.Head.Unlocked = h.Head.Locked && !h.Secret
	if h.Rejected, err = p.rejection(r.Context(), h.Head); err != nil {
		return err
	}
	for _, e := range editions {
		v := version{
			Name: e.Version, Published: e.Published, Records: e.Records, Fields: len(e.Fields), Live: e.Live, First: e.First,
			Changes: e.Changes, Report: e.Report,
		}
		if h.Secret || !h.Head.Locked && e.Access == herb.AccessKey { // an open dataset may have been protected before
			v.Report = nil
		}
		if v.Report != nil && len(v.Report.Columns) > maxFieldDocs {
			short := *v.Report
			v.More = len(short.Columns) - maxFieldDocs
			short.Columns = short.Columns[:maxFieldDocs]
			v.Report = &short
		}
		h.Versions = append(h.Versions, v)
	}
	l := p.layout(r, nameOf(snap.Dataset)+": versions", describe(snap.Dataset))
	l.Canonical = p.origin(r) + pathDatasets + snap.Ref.String() + "/versions"
	setCaching(w, snap.Dataset)
	return p.render(w, "versions", http.StatusOK, l, &h)
}
