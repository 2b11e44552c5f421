package state

import (
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// ParamEmbed asks for the page that other sites show in a frame: the rows, the map or the chart
// without the bars of the page.
const ParamEmbed = "_embed"

// embedded is the value of ParamEmbed.
const embedded = "1"

// EmbedRows is the number of rows per page in a frame unless the view has another one.
const EmbedRows = 10

// IsEmbed reports whether a query string asks for a page in a frame. It returns an error if a value
// of ParamEmbed is invalid; an empty one counts as absent.
func IsEmbed(q query.String) (bool, error) {
	ps, err := q.Params()
	if err != nil {
		return false, nil // the page says why
	}
	for _, p := range ps {
		if p.Name == ParamEmbed && p.Value != "" && p.Value != embedded {
			return false, herb.Invalidf("%s is %q; it must be %s, for a page that other sites show in a frame", ParamEmbed, herb.Clip(p.Value, MaxChipText), embedded)
		}
	}
	return ps.Get(ParamEmbed) != "", nil
}

// dropControls removes what a page in a frame does not show.
func (s *State) dropControls() {
	s.Distributions, s.NoCards = false, false
	s.Record, s.Row = 0, ""
	s.Facets, s.More, s.Offset, s.Values = nil, false, 0, ""
}

// embedParams adds the parameters that all links of a page in a frame keep.
func (s *State) embedParams(ps query.Params) query.Params {
	if !s.Embed {
		return ps
	}
	return ps.WithValue(ParamEmbed, embedded)
}

// TableHref returns the link from another view to the table of a listing, without the parameters of
// that view.
func (s *State) TableHref(path string, listing query.Params) string {
	listing = s.embedParams(listing)
	if s.Embed {
		listing = listing.WithValue(ParamTheme, s.Picture.Theme)
	}
	return Join(path, listing.WithValue(query.ParamVersion, s.Version).Encode())
}

// EmbedURL returns the path and the query of the page in a frame that shows the view of a state. A
// table begins with its first rows.
func (s *State) EmbedURL(isTable bool) string {
	other := *s
	other.Embed = true
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
func (s *State) FullURL() string {
	other := *s
	other.Embed, other.Picture.Theme = false, ""
	other.Listing = other.AnyPage().Without(query.ParamPerPage)
	return other.URL()
}
