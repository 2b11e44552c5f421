package browse

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
	"herbarium/internal/web/site"
	"herbarium/internal/web/view/charts"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/snippets"
	"herbarium/internal/web/view/state"
	"herbarium/internal/web/view/tables"
)

// chartView is the chart of a rowsPage.
type chartView struct {
	*charts.Answer
	Suggestions []charts.Suggestion
	CSV, SVG    string // addresses of files
	FileName    string // of them, without an extension
	Heading     string // that the visitor has given the chart; empty: none
	Embed       string // HTML that shows the picture on other pages; empty: it requires a key
}

// chart serves the chart of the rows of a listing.
func (p *rowsPages) chart(w *httpapi.Page, r *http.Request, v datasetView) error {
	s, canonical, parseErr := p.parseState(r, v)
	s.Path += "/chart"
	var unknown error // column, in a box of the sentence
	if s.Set != nil && v.Denied == nil {
		if err := v.readScales(r.Context()); err != nil {
			return err
		}
		var url string
		url, unknown = charts.Change(&s)
		if unknown == nil {
			return site.Redirect(w, url)
		}
	} else if !canonical {
		return site.Redirect(w, s.URL())
	}
	if v.Denied != nil {
		return p.RequestKey(w, r, &v.DatasetView, r.URL.RawQuery, v.Denied)
	}
	var page rowsPage
	req, rejected, err := page.parse(s, parseErr, v)
	if err != nil {
		return err
	}
	if err := v.readScales(r.Context()); err != nil {
		return err
	}
	q, err := page.parseQuestion(&rejected)
	if err != nil {
		return err
	}
	if unknown != nil {
		page.reject(&rejected, "", unknown)
	}
	if rejected == nil && p.notModified(w, r, v) {
		return nil
	}
	page.Head, err = p.head(w, r, v, "chart")
	if err != nil {
		return err
	}
	if err := page.setControls(r.Context(), &s, v); err != nil {
		return err
	}
	paths := charts.Paths{Table: strings.TrimSuffix(s.Path, "/chart")}
	answer, found, err := answerQuestion(r.Context(), v, page.State, q, paths)
	if herb.CodeOf(err) == herb.CodeInvalid && q.Zone != "" { // no value has a zone
		page.reject(&rejected, query.ParamZone, err)
		w.Header().Del("Etag")
		q, err = page.withoutZone()
		if err != nil {
			return err
		}
		answer, found, err = answerQuestion(r.Context(), v, page.State, q, paths)
	}
	if err != nil {
		return err
	}
	page.Head.SetListing(page.State, found.All.Total)
	page.Pager = tables.NewPager(page.State, req.Meta(found.All.Total), 0)
	page.Words = state.NewWords(page.State, found.All.Total)
	page.setChart(p.datasetPages, r, v, answer, q, q.Call(page.State, *found))
	title := cmp.Or(page.State.Picture.Title, answer.Title) + ": "
	if s.Embed {
		return cmp.Or(p.renderEmbed(w, r, v, &page, title), rejected)
	}
	l := p.Shell(r, title+page.Words.Title(datasets.Title(&v.Dataset)), datasets.Describe(&v.Dataset))
	p.setSharing(&l, r, v, &page)
	l.Feeds = page.Head.Feeds()
	p.setPreview(&l, page.State, &page.Head, answer.Title)
	l.Framed = true
	return cmp.Or(p.Render(w, "chart", l, &page), rejected)
}

// parseQuestion parses the question of the page. If it is invalid, the page shows the same question
// without its zone, or the default one, and says why.
func (page *rowsPage) parseQuestion(rejected *error) (*charts.Question, error) {
	q, err := charts.ParseQuestion(page.State)
	if herb.CodeOf(err) != herb.CodeInvalid {
		return q, err
	}
	invalid := err
	q, err = page.withoutZone()
	if err == nil {
		page.reject(rejected, query.ParamZone, invalid)
		return q, nil
	}
	page.reject(rejected, "", invalid)
	page.State.Question = nil
	return charts.ParseQuestion(page.State)
}

// withoutZone removes the zone from the question of the page.
func (page *rowsPage) withoutZone() (*charts.Question, error) {
	page.State.Question = page.State.Question.Without(query.ParamZone)
	return charts.ParseQuestion(page.State)
}

// reject says why the page does not show the question as requested. param is empty if the question
// as a whole is invalid.
func (page *rowsPage) reject(rejected *error, param string, err error) {
	*rejected = cmp.Or(*rejected, err)
	page.Invalid = append(page.Invalid, state.InvalidParam{Name: param, Message: herb.MessageOf(err)})
}

// readScales decides which numbers charts group logarithmically, once per version.
func (v datasetView) readScales(ctx context.Context) error {
	return v.columns.ReadScales(func(fields []int) ([]query.Facet, error) { return countAll(ctx, v, fields) })
}

// answerQuestion computes the aggregates of a question.
func answerQuestion(
	ctx context.Context, v datasetView, s *state.State, q *charts.Question, paths charts.Paths,
) (*charts.Answer, *charts.Aggregates, error) {
	all, err := q.Run(func(r *query.AggregateRequest) (query.Aggregate, error) { return v.Aggregate(ctx, r) })
	if err != nil {
		return nil, nil, err
	}
	// Bytes of a value, and of a group that is listed or can be clicked, in the view models.
	const ofValue, ofGroup, mostGroups = 300, 2000, 3000
	groups, values := len(all.Groups.Rows), len(all.Series.Rows)+len(all.Cells.Rows)
	err = v.results.reserve(ctx, ofValue*(groups+values)+ofGroup*min(groups+values/4, mostGroups))
	if err != nil {
		return nil, nil, err
	}
	return charts.NewAnswer(s, q, all, paths), &all, nil
}

// setChart sets the chart, and the API call and the file of its values.
func (page *rowsPage) setChart(p *datasetPages, r *http.Request, v datasetView, answer *charts.Answer,
	q *charts.Question, call query.Params) {
	base := p.DatasetPath(v.Ref)
	page.Chart = &chartView{
		Answer: answer, Heading: page.State.Picture.Title,
		FileName:    herb.Clip(cmp.Or(page.State.Picture.Title, answer.Title), 120),
		Suggestions: charts.NewSuggestions(page.State, base+"/chart.svg", v.Version),
		CSV:         state.Join(base+"/aggregate.csv", q.FileCall(call).Encode()),
		SVG:         page.State.ImageHref(base + "/chart.svg"),
	}
	if !v.Access.NeedsKey() {
		page.Chart.Embed = embedHTML(strings.TrimSuffix(p.Origin(r), p.Base)+page.Chart.SVG,
			cmp.Or(page.Chart.Heading, answer.Title), page.State.Picture.WidthOr())
	}
	page.showCall(p, r, site.PathAPI+v.Ref.String()+"/aggregate", call, snippets.Groups)
}
