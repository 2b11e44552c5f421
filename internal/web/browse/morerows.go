package browse

import (
	"net/http"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/web/view/datasets"
)

// moreRows serves another page of the rows of a table, which the script inserts while a visitor
// scrolls: the same rows by the same templates as the page itself. A client compares their version
// with that of the rows which it has.
func (p *rowsPages) moreRows(w *httpapi.Page, r *http.Request, v datasetView) error {
	if v.Denied != nil {
		return v.Denied
	}
	s, _, err := p.parseState(r, v)
	if err != nil {
		return err
	}
	req, err := s.Request(v.Order)
	if err != nil {
		return err
	}
	if p.notModified(w, r, v) {
		return nil
	}
	page := rowsPage{State: &s, Head: datasets.NewHead(v.columns, s.Path, v.Pinned, "table")}
	if err := page.list(r.Context(), v, req); err != nil {
		return err
	}
	if page.Table == nil {
		return herb.Errorf(herb.CodeNotFound, "the table has no columns")
	}
	page.setMore(v)
	page.setCall(p.datasetPages, r, v)
	return p.executeFragment(w, "browser", "morerows", &page)
}

// setMore sets what the script needs to load other pages of the rows.
func (page *rowsPage) setMore(v datasetView) {
	page.Table.More = page.State.Path + "/rows"
	if !page.Head.Mutable {
		page.Table.Version = v.Version
	}
}
