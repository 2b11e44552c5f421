package state

import (
	"strings"

	"herbarium/internal/query"
)

// Link is a link, or only a label and a detail if it has no address.
type Link struct {
	Label, Detail, Href string
	Current             bool // it leads to what the page shows
}

// ReadableQuery encodes parameters for display. Unlike in a URL, brackets, commas and characters of
// other scripts are not escaped.
func ReadableQuery(ps query.Params) string {
	escape := strings.NewReplacer("%", "%25", "&", "%26", "=", "%3D", "+", "%2B", "#", "%23", " ", "+", "\n", "%0A",
		"\r", "%0D")
	parts := make([]string, len(ps))
	for i, p := range ps {
		parts[i] = escape.Replace(p.Name) + "=" + escape.Replace(p.Value)
	}
	return strings.Join(parts, "&")
}

// Join appends a query string to a path.
func Join(path, rawQuery string) string {
	if rawQuery == "" {
		return path
	}
	return path + "?" + rawQuery
}
