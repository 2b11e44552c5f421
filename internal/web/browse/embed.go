package browse

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
	"herbarium/internal/web/site"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/state"
)

// view returns the handler of a page of rows, which other sites can show in a frame if the dataset
// is open.
func (p *rowsPages) view(handle func(*httpapi.Page, *http.Request, datasetView) error) httpapi.PageHandler {
	return p.dataset(func(w *httpapi.Page, r *http.Request, v datasetView) error {
		if !site.IsEmbed(r) {
			if v.Query.Get(state.ParamEmbed) != "" {
				return p.redirectToEmbed(w, r, v)
			}
			return handle(w, r, v)
		}
		if v.Access.NeedsKey() {
			return herb.Errorf(herb.CodeUnauthenticated, "dataset %s requires a key; such datasets cannot be embedded",
				v.Ref)
		}
		err := state.CheckPicture(v.Query)
		if err != nil {
			return err
		}
		return handle(w, r, v)
	})
}

// redirectToEmbed redirects the address that a view in a frame had as a parameter of its page.
func (p *rowsPages) redirectToEmbed(w *httpapi.Page, r *http.Request, v datasetView) error {
	params, err := query.Split(r.URL.RawQuery).Params()
	if err != nil {
		return err
	}
	suffix := strings.TrimPrefix(r.URL.Path, site.PathDatasets+v.Ref.String())
	return site.Redirect(w, state.Join(p.EmbedPath(v.Ref)+suffix, params.Without(state.ParamEmbed).Encode()))
}

// renderEmbed writes the view of a page for a frame of another site.
func (p *rowsPages) renderEmbed(w *httpapi.Page, r *http.Request, v datasetView, page *rowsPage, title string) error {
	l := p.Shell(r, title+page.Words.Title(datasets.Title(&v.Dataset)), datasets.Describe(&v.Dataset))
	l.Embedded, l.Images = true, len(v.columns.Images) > 0 && page.Map == nil && page.Chart == nil
	if theme := page.State.Picture.Theme; theme == state.ThemeLight || theme == state.ThemeDark {
		l.Theme = theme
	}
	page.Full = page.State.FullURL(p.DatasetPath(v.Ref) + strings.TrimPrefix(page.State.Path, p.EmbedPath(v.Ref)))
	return p.Render(w, "embed", l, page)
}

// setSharing adds to a page of rows what its menu offers to share it.
func (p *rowsPages) setSharing(l *site.Shell, r *http.Request, v datasetView, page *rowsPage) {
	page.Head.Preview, page.Head.Cited = p.previewHref(v, page.State), p.cite(r, v)
	if !v.Access.NeedsKey() {
		l.Embeds = true
		path := p.EmbedPath(v.Ref) + strings.TrimPrefix(page.State.Path, p.DatasetPath(v.Ref))
		page.Head.Embed = newEmbed(strings.TrimSuffix(l.Origin, p.Base), page.State.EmbedURL(path, page.Map == nil &&
			page.Chart == nil), l.Title)
	}
}

// newEmbed returns the HTML that shows a view on other pages. origin is that of the server.
func newEmbed(origin, path, title string) *datasets.Embed {
	const height, maxTitle = 480, 200
	quoted, _ := json.Marshal(origin) // a string; characters that end a script are escaped
	return &datasets.Embed{
		Path: path,
		HTML: fmt.Sprintf(`<iframe src="%s" title="%s" loading="lazy" width="100%%" height="%d" style="border:0"></iframe>`,
			html.EscapeString(origin+path), html.EscapeString(herb.Clip(title, maxTitle)), height),
		Script: `<script>addEventListener("message",e=>{if(e.origin===` + string(quoted) +
			`&&e.data?.type==="herbarium-height")for(const f of document.querySelectorAll("iframe"))if(f.contentWindow===e.source)f.height=e.data.height})</script>`,
	}
}
