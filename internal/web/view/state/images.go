// Package state reads and writes the URL of a view of rows: the listing, the selected columns and
// what is open. Links of the pages are changes of a State.
package state

import (
	"net/url"
	"strings"

	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
)

// ImageAddress returns the address of the image that a value of an image column names, or "" if the
// value names none. A relative path is a file below s.Files. A page of an older version shows the
// images that its rows name.
func (s *State) ImageAddress(value string) string {
	switch {
	case strings.HasPrefix(value, "https://") && format.IsWebAddress(value):
		// browsers block http images as mixed content
		return value
	case s.Files != "" && columns.IsImagePath(value):
		return Join(s.Files+(&url.URL{Path: value}).EscapedPath(),
			query.Params{}.WithValue(query.ParamVersion, s.Version).Encode())
	}
	return ""
}
