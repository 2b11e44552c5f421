package browse

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
	"herbarium/internal/web/site"
	"herbarium/internal/web/view/charts"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/plot"
	"herbarium/internal/web/view/state"
	"herbarium/internal/web/view/tables"
)

// chartView is the chart of a rowsPage.
type chartView struct {
	*charts.Answer
	Suggestions []charts.Suggestion
	CSV, SVG    string // addresses of files
	FileName    string // of them, without an extension
}

// chart serves the chart of the rows of a listing.
func (p *Pages) chart(w *httpapi.Page, r *http.Request, v datasetView) error {
	s, canonical, parseErr := p.parseState(v)
	s.Path += "/chart"
	if !canonical {
		return site.Redirect(w, s.URL())
	}
	if v.Denied != nil {
		return p.RequestKey(w, r, &v.DatasetView, r.URL.RawQuery, v.Denied)
	}
	var page rowsPage
	req, rejected, err := page.parse(s, parseErr, v.Order)
	if err != nil {
		return err
	}
	if err := v.readScales(r.Context()); err != nil {
		return err
	}
	q, invalid, err := parseQuestion(page.State)
	if err != nil {
		return err
	}
	if invalid != nil {
		rejected = cmp.Or(rejected, invalid)
		page.Invalid = append(page.Invalid, state.InvalidParam{Message: herb.MessageOf(invalid)})
	}
	if rejected == nil && p.notModified(w, r, v) {
		return nil
	}
	if page.Head, err = p.head(w, r, v, "chart"); err != nil {
		return err
	}
	if err := page.setControls(r.Context(), &s, v); err != nil {
		return err
	}
	answer, found, release, err := answerQuestion(r.Context(), v, page.State, q, p.DatasetPath(v.Ref))
	if err != nil {
		return err
	}
	defer release()
	page.Head.SetListing(page.State, found.All.Total)
	page.Pager = tables.NewPager(page.State, req.Meta(found.All.Total), 0)
	page.setChart(p, r, v, answer, q.Call(page.State, *found))
	page.Head.Preview = p.previewHref(v, page.State)
	l := p.Shell(r, answer.Title+": "+state.NewWords(page.State, found.All.Total).Title(datasets.Title(&v.Dataset)), datasets.Describe(&v.Dataset))
	p.setPreview(&l, page.State, &page.Head, answer.Title)
	l.Framed = true
	return cmp.Or(p.Render(w, "chart", l, &page), rejected)
}

// parseQuestion parses the question of a state. If it is invalid, the state gets the default one.
func parseQuestion(s *state.State) (q *charts.Question, invalid, err error) {
	if q, err = charts.ParseQuestion(s); herb.CodeOf(err) != herb.CodeInvalid {
		return q, nil, err
	}
	invalid, s.Question = err, nil
	q, err = charts.ParseQuestion(s)
	return q, invalid, err
}

// readScales decides which numbers charts group logarithmically, once per version.
func (v datasetView) readScales(ctx context.Context) error {
	return v.columns.ReadScales(func(fields []int) ([]query.Facet, error) { return countAll(ctx, v, fields) })
}

// answerQuestion computes the aggregates of a question. The caller releases their memory after the
// page was rendered.
func answerQuestion(ctx context.Context, v datasetView, s *state.State, q *charts.Question, path string) (a *charts.Answer, found *charts.Aggregates, release func(), err error) {
	all, err := q.Run(func(r *query.AggregateRequest) (query.Aggregate, error) { return v.Aggregate(ctx, r) })
	if err != nil {
		return nil, nil, nil, err
	}
	// Bytes of a value, and of a group that is listed or can be clicked, in the view models.
	const ofValue, ofGroup, mostGroups = 300, 2000, 3000
	groups, values := len(all.Groups.Rows), len(all.Series.Rows)+len(all.Cells.Rows)
	if release, err = query.Reserve(ctx, ofValue*(groups+values)+ofGroup*min(groups+values/4, mostGroups)); err != nil {
		return nil, nil, nil, err
	}
	return charts.NewAnswer(s, q, all, path), &all, release, nil
}

// setChart sets the chart and the API call for its values.
func (page *rowsPage) setChart(p *Pages, r *http.Request, v datasetView, answer *charts.Answer, call query.Params) {
	base := p.DatasetPath(v.Ref)
	page.Chart = &chartView{
		Answer: answer, FileName: herb.Clip(answer.Title, 120), Suggestions: charts.NewSuggestions(page.State, base+"/chart.svg", v.Version),
		CSV: state.Join(base+"/aggregate.csv", call.Encode()), SVG: page.State.ImageHref(base + "/chart.svg"),
	}
	path := site.PathAPI + v.Ref.String() + "/aggregate"
	page.URL = state.Join(p.Origin(r)+path, call.Encode())
	page.Readable = state.Join(p.Base+path, state.ReadableQuery(call))
}

// chartImage is the SVG file of a chart.
type chartImage struct {
	Figure                 plot.Figure
	ViewBox                string
	Width, Height, SourceY float64
	BigSize                float64 // of the number, in pixels
	Title, Source          string
	Big                    string
	Small                  bool
}

// setSize adds space for the title and the source around the figure, unless it is a preview.
func (i *chartImage) setSize() {
	const margin, top, bottom = 20, 52, 40
	if i.Big != "" {
		i.Figure.Width, i.Figure.Height = 124, 46
		i.BigSize = math.Floor(min(32, 124/plot.TextWidth(i.Big, 1.1))) // bold
	}
	i.Width, i.Height = i.Figure.Width, i.Figure.Height
	x, y := 0.0, 0.0
	if !i.Small {
		i.Width = max(i.Width, plot.TextWidth(i.Title, 17), plot.TextWidth(i.Source, 12))
		x, y, i.Width, i.Height, i.SourceY = -margin, -top, i.Width+2*margin, i.Height+top+bottom, i.Figure.Height+bottom/2
	}
	i.ViewBox = fmt.Sprint(x, y, i.Width, i.Height)
}

// imagePolicy is the content security policy of charts as images, which have their own styles.
const imagePolicy = "default-src 'none'; style-src 'unsafe-inline'"

// chartSVG serves a chart as an image: a file to download, or the preview of a suggestion.
func (p *Pages) chartSVG(w *httpapi.Page, r *http.Request, v datasetView) error {
	if v.Denied != nil {
		return v.Denied
	}
	s, _, err := p.parseState(v)
	if err != nil {
		return err
	}
	h := w.Header()
	v.cacheImage(h, s.Small)
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Content-Security-Policy", imagePolicy)
	return p.drawChart(w, r, v, &s)
}

// drawChart writes the chart of a state as an image, or responds with 304 if the client has it.
func (p *Pages) drawChart(w *httpapi.Page, r *http.Request, v datasetView, s *state.State) error {
	if err := v.readScales(r.Context()); err != nil {
		return err
	}
	q, err := charts.ParseQuestion(s)
	if err != nil {
		return err
	}
	if v.Access != herb.AccessKey && site.MatchTag(w, r, p.Tag(v.Version, r.URL.RawQuery)) {
		return nil
	}
	answer, found, release, err := answerQuestion(r.Context(), v, s, q, "")
	if err != nil {
		return err
	}
	defer release()
	image := chartImage{Title: answer.Title, Big: answer.Big, Small: s.Small != ""}
	image.Figure = answer.File()
	image.Source = format.PlainText(datasets.Title(&v.Dataset)) + ", " + herb.Plural(found.All.Total, "row", "rows")
	if image.Small {
		image.Figure = answer.Small()
	}
	image.setSize()
	return p.Execute(w, "chart", "chartfile", &image)
}
