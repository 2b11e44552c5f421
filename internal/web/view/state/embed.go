package state

import (
	"strconv"

	"herbarium/internal/query"
)

// ParamEmbed asked for the page that other sites show in a frame before that had a path of its own.
const ParamEmbed = "_embed"

// EmbedRows is the number of rows per page in a frame unless the view has another one.
const EmbedRows = 10

// dropControls removes what a page in a frame does not show.
func (s *State) dropControls() {
	s.Distributions, s.NoCards = false, false
	s.Record, s.Row = 0, ""
	s.Facets, s.More, s.Offset, s.Values = nil, false, 0, ""
}

// TableHref returns the link from another view to the table of a listing, without the parameters of
// that view.
func (s *State) TableHref(path string, listing query.Params) string {
	if s.Embed {
		listing = listing.WithValue(ParamTheme, s.Picture.Theme)
	}
	return Join(path, listing.WithValue(query.ParamVersion, s.Version).Encode())
}

// EmbedURL returns the path and the query of the page in a frame, which has a path of its own, that
// shows the view of a state. A table begins with its first rows.
func (s *State) EmbedURL(path string, isTable bool) string {
	other := *s
	other.Path, other.Embed = path, true
	other.dropControls()
	if isTable {
		other.Listing = other.AnyPage()
		if other.Listing.Get(query.ParamPerPage) == "" {
			other.Listing = other.Listing.WithValue(query.ParamPerPage, strconv.Itoa(EmbedRows))
		}
	}
	return other.URL()
}

// FullURL returns the path and the query of the page that an embedded one is a part of.
func (s *State) FullURL(path string) string {
	other := *s
	other.Path, other.Embed, other.Picture.Theme = path, false, ""
	other.Listing = other.AnyPage().Without(query.ParamPerPage)
	return other.URL()
}
