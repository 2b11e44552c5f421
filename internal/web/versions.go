package web

import (
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
	for _, e := range editions {
		v := version{
			Name: e.Version, Published: e.Published, Records: e.Records, Fields: len(e.Fields), Live: e.Live, First: e.First,
			Changes: e.Changes, Report: e.Report,
		}
		if h.Secret {
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
