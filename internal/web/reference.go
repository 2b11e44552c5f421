package web

import (
	"context"
	"net/http"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/web/view"
)

// reference is the API reference of a dataset. The viewer at /docs documents and tries every operation.
type reference struct {
	Head        view.Head
	URL         string // of the listing
	Columns     []columnDoc
	MoreColumns int
	Hidden      bool // examples are not shown, because the browser has no valid key
	Operators   []query.Op
}

// columnDoc is a column with some of its values.
type columnDoc struct {
	herb.Field
	Description string // as plain text
	PrimaryKey  bool
	Examples    []string
	Report      *herb.ColumnReport // nil: there is none, or it is hidden
}

// maxColumnDocs is how many columns a page documents.
const maxColumnDocs = 300

// reference serves the API reference of a dataset.
func (p *Pages) reference(w http.ResponseWriter, r *http.Request, v library.View) error {
	d := &v.Dataset
	page := reference{
		Head: p.head(d, "api"), URL: p.listingURL(r, d.Ref), Operators: query.Ops(),
		Hidden: p.authorize(r, d) != nil, MoreColumns: max(len(d.Fields)-maxColumnDocs, 0),
	}
	page.Head.Unlocked = page.Head.Locked && !page.Hidden
	var err error
	if page.Columns, err = documentColumns(r.Context(), v, !page.Hidden); err != nil {
		return err
	}
	l := p.layout(r, view.Title(d)+": API", "Columns and parameters of the API of "+view.Title(d)+".")
	l.Canonical = p.origin(r) + pathDatasets + v.Ref.String() + "/api"
	l.Framed = true
	setCaching(w, d)
	return p.render(w, "reference", http.StatusOK, l, &page)
}

// documentColumns documents the first columns of a dataset, with values of the first rows if they may be shown.
func documentColumns(ctx context.Context, v library.View, values bool) ([]columnDoc, error) {
	const examples, maxExample = 3, 48
	docs := make([]columnDoc, min(len(v.Fields), maxColumnDocs))
	for i := range docs {
		f := v.Fields[i]
		docs[i] = columnDoc{Field: f, PrimaryKey: slices.Contains(v.PrimaryKey, f.Name), Description: view.MarkdownText(f.Description)}
	}
	if !values {
		return docs, nil
	}
	req, err := query.Parse("", v.Fields)
	if err != nil {
		return nil, err
	}
	found, err := v.List(ctx, req)
	if err != nil {
		return nil, err
	}
	rows, err := view.DecodeRows(found.Records, v.Fields)
	if err != nil {
		return nil, err
	}
	for i := range docs {
		c := &docs[i]
		c.Report = view.ColumnReport(&v.Dataset, i)
		for _, row := range rows {
			if v := herb.Clip(row[i], maxExample); v != "" && len(c.Examples) < examples && !slices.Contains(c.Examples, v) {
				c.Examples = append(c.Examples, v)
			}
		}
	}
	return docs, nil
}
