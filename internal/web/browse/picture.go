package browse

import (
	"fmt"
	"html"
	"net/http"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
	"herbarium/internal/web/site"
	"herbarium/internal/web/view/charts"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/state"
)

// picturePolicy is the content security policy of charts as images, which contain their styles and
// their font.
const picturePolicy = "default-src 'none'; style-src 'unsafe-inline'; font-src data:"

// chartSVG serves a chart as a picture: a file to download or to show on other pages, or the
// preview of a suggestion.
func (p *pictures) chartSVG(w *httpapi.Page, r *http.Request, v datasetView) error {
	if v.Denied != nil {
		return v.Denied
	}
	s, _, err := p.parseState(r, v)
	if err != nil {
		return err
	}
	if err := state.CheckPicture(v.Query); err != nil {
		return err
	}
	s.Path += "/chart"
	v.cacheImage(w.Header(), s.Small)
	return p.drawChart(w, r, v, &s)
}

// drawChart writes the chart of a state as a picture, or responds with 304 if the client has it.
func (p *pictures) drawChart(w *httpapi.Page, r *http.Request, v datasetView, s *state.State) error {
	if err := v.readScales(r.Context()); err != nil {
		return err
	}
	q, err := charts.ParseQuestion(s)
	if err != nil {
		return err
	}
	origin := strings.TrimSuffix(p.Origin(r), p.Base)
	source := sourceOf(v, origin+p.DatasetPath(v.Ref), time.Now())
	if !v.Access.NeedsKey() && site.MatchTag(w, r, site.FileTag(v.Version, source, site.TagOfQuery(r.URL.RawQuery))) {
		return nil
	}
	answer, found, err := answerQuestion(r.Context(), v, s, q, charts.Paths{})
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Content-Security-Policy", picturePolicy)
	if s.Small != "" {
		return p.Execute(w, "chart", "chartfile", charts.NewPreview(answer))
	}
	words := state.NewWords(s, found.All.Total)
	return p.Execute(w, "chart", "chartfile", charts.NewPicture(answer, s.Picture, charts.Caption{
		Rows: format.PlainText(datasets.Title(&v.Dataset)) + ", " + words.String(), Source: source,
		Link: origin + s.URL(),
	}))
}

// sourceOf returns the date and the address of the version that a picture shows. The date is that
// of its publish, or today if rows are added one by one.
func sourceOf(v datasetView, address string, now time.Time) string {
	if v.Pinned != "" {
		address = state.Join(address, query.Params{{Name: query.ParamVersion, Value: v.Pinned}}.Encode())
	}
	date := v.Published
	if v.Ref == herb.PlantsRef {
		date = now
	}
	if date.IsZero() {
		return address
	}
	return date.UTC().Format("2 Jan 2006") + ", " + address
}

// embedHTML returns the element that shows a picture on other pages.
func embedHTML(address, title string, width int) string {
	return fmt.Sprintf(`<img src="%s" alt="%s" width="%d">`, html.EscapeString(address),
		html.EscapeString(title), width)
}
