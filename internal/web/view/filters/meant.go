package filters

import (
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/state"
)

// Meant is a listing that has rows, which the visitor of one without rows may have meant.
type Meant struct {
	Label string // the corrected words
	Href  string
	Rows  int
}

// NewMeant returns the link to a corrected listing with a number of rows.
func NewMeant(s *state.State, listing, corrected query.Params, rows int) Meant {
	var words []string
	for _, p := range corrected {
		words = append(words, herb.Clip(p.Value, state.MaxChipText))
	}
	return Meant{Label: strings.Join(words, ", "), Href: s.Href(listing), Rows: rows}
}
