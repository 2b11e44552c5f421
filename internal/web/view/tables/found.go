// Package tables builds the table of a listing, its open record and the links between its pages.
package tables

import (
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
)

// FoundRow is a row that a search of all datasets matches.
type FoundRow struct {
	Title  string
	Column string  // heading of the column with the match; empty: it is in the title
	Pieces []Piece // of the text around the match
}

// Equal reports whether two rows look the same.
func (r FoundRow) Equal(o FoundRow) bool {
	return r.Title == o.Title && r.Column == o.Column && slices.Equal(r.Pieces, o.Pieces)
}

// NewFoundRow returns how a row is shown among the results of a search.
func NewFoundRow(d *columns.Dataset, search *query.Search, row herb.Record) FoundRow {
	const visible, width = 90, 600 // characters, and about their width in pixels
	h, naming := highlighter{query.NewMarker(d.Fields, search, nil)}, d.Titles
	r := FoundRow{Title: Title(d, row)}
	if pieces := h.pieces(naming, r.Title); pieces != nil {
		r.Pieces = pieces
		return r
	}
	for i, f := range d.Fields {
		if shown := d.Shown(i, row[i]); i != naming && h.matches(i, shown) {
			r.Column, r.Pieces = columns.Heading(f),
				h.pieces(i, herb.Clip(h.excerpt(i, format.PlainText(shown), width), visible))
			break
		}
	}
	return r
}
