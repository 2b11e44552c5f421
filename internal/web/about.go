package web

import (
	"html/template"
	"net/http"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/web/view"
)

// aboutPage describes a dataset: its description, columns, license, sources and quality.
type aboutPage struct {
	Head        view.Head
	Description template.HTML
	Descriptor  view.Descriptor
	Columns     []columnDoc
	MoreColumns int
	Hidden      bool          // reports and values are not shown, because the browser has no valid key
	Report      *herb.Report  // nil: there is none, or it is hidden
	Quality     *view.Quality // nil: there is no report
}

// about serves the description of a dataset. It is public, except for what may quote values.
func (p *Pages) about(w http.ResponseWriter, r *http.Request, v library.View) error {
	d := &v.Dataset
	page := aboutPage{Head: p.head(d, "about"), Hidden: p.authorize(r, d) != nil, MoreColumns: max(len(d.Fields)-maxColumnDocs, 0)}
	page.Head.Unlocked = page.Head.Locked && !page.Hidden
	var err error
	if page.Description, err = view.Markdown(d.Description); err != nil {
		return err
	}
	if page.Columns, err = documentColumns(r.Context(), v, !page.Hidden); err != nil {
		return err
	}
	if !page.Hidden {
		page.Descriptor, page.Report, page.Quality = view.ParseDescriptor(d.Descriptor), d.Report, view.NewQuality(d)
	}
	l := p.layout(r, view.Title(d)+": about", view.Describe(d))
	l.Canonical = p.origin(r) + pathDatasets + v.Ref.String() + "/about"
	l.Framed = true
	setCaching(w, d)
	if err := p.setRejection(w, r, &page.Head); err != nil {
		return err
	}
	return p.render(w, "about", http.StatusOK, l, &page)
}
