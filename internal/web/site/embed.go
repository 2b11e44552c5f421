package site

import (
	"net/http"
	"strings"

	"herbarium/internal/herb"
)

// PathEmbed begins the paths of the pages that other sites show in a frame: the table, the map and
// the chart of a dataset. No other page can be framed.
const PathEmbed = "/embed/"

// EmbedPath returns the path of the table of a dataset in a frame.
func (p *Site) EmbedPath(ref herb.Ref) string { return p.Base + PathEmbed + ref.String() }

// IsEmbed reports whether a request is for a page that other sites show in a frame. Such a page
// depends on nothing that the browser stores: neither keys nor the theme are read.
func IsEmbed(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, PathEmbed) }
