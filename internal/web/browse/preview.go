package browse

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
	"herbarium/internal/web/share"
	"herbarium/internal/web/site"
	"herbarium/internal/web/view/charts"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/distributions"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/maps"
	"herbarium/internal/web/view/state"
)

// previewFile is the name of the image of a view, which other sites show beside a link to it.
const previewFile = "/preview.png"

// previewHref returns the address of the preview of a state; empty if there is none: everybody may
// see it. It names the version, so that caches keep it.
func (p *datasetPages) previewHref(v datasetView, s *state.State) string {
	if v.Access.NeedsKey() {
		return ""
	}
	return s.PreviewHref(s.Path+previewFile, v.Version)
}

// setPreview adds the preview of a view to its page, with the address of the view: sites fetch the
// page again from there.
func (p *datasetPages) setPreview(l *site.Shell, s *state.State, h *datasets.Head, alt string) {
	site := strings.TrimSuffix(l.Origin, p.Base)
	l.Address = site + s.URL()
	if h.Preview != "" {
		l.Preview, l.PreviewAlt = site+h.Preview, format.PlainText(alt)
	}
}

// preview returns the handler of the previews of a view: "table", "map" or "chart".
func (p *pictures) preview(tab string) func(*httpapi.Page, *http.Request, datasetView) error {
	return func(w *httpapi.Page, r *http.Request, v datasetView) error {
		if v.Denied != nil {
			return v.Denied
		}
		if v.Access.NeedsKey() {
			return herb.Errorf(herb.CodeNotFound, "dataset %s requires a key; such datasets have no previews", v.Ref)
		}
		s, _, err := p.parseState(r, v)
		if err != nil {
			return err
		}
		h := w.Header()
		v.cacheImage(h, s.Small)
		h.Set("Content-Type", "image/png")
		h.Set("Content-Security-Policy", "default-src 'none'")
		tag := ""
		if v.Ref != herb.PlantsRef { // of which there are no versions
			tag = site.FileTag(v.Version, p.Origin(r), r.URL.Path, site.TagOfQuery(r.URL.RawQuery))
			if site.MatchTag(w, r, tag) {
				return nil
			}
		}
		body, err := w.CachedBody(tag, func() ([]byte, error) { return p.drawPreview(r, v, &s, tab) })
		if err != nil {
			return err
		}
		w.WriteShared(body)
		return nil
	}
}

// drawSteps is how much work it is to draw a preview, in steps of queries.
const drawSteps = 1 << 18

// drawPreview draws the preview of a view.
func (p *pictures) drawPreview(r *http.Request, v datasetView, s *state.State, tab string) ([]byte, error) {
	ctx := r.Context()
	card, err := p.newCard(ctx, v, s, tab)
	if err != nil {
		return nil, err
	}
	origin, _ := url.Parse(p.Origin(r)) // a valid address
	card.Site = origin.Host + origin.Path
	if err := query.Yield(ctx, drawSteps, 0); err != nil {
		return nil, err
	}
	if err := v.results.reserve(ctx, share.MemorySize); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = card.Draw(&b)
	return b.Bytes(), err
}

// newCard builds the preview of a view.
func (p *pictures) newCard(ctx context.Context, v datasetView, s *state.State, tab string) (*share.Card, error) {
	req, err := s.Request(v.Order)
	if err != nil {
		return nil, err
	}
	title := format.PlainText(datasets.Title(&v.Dataset))
	if !share.CanDraw(title) {
		title = v.Name
	}
	card := &share.Card{Path: v.Namespace + " / " + strings.TrimPrefix(title, v.Namespace+"/")}
	found, err := v.Facets(ctx, &query.FacetRequest{Request: req})
	if err != nil {
		return nil, err
	}
	words := state.NewWords(s, found.Total)
	card.Heading, card.Detail = words.Rows, describeCard(&v.Dataset, words)
	switch tab {
	case "map":
		card.Map, err = p.newCardMap(ctx, v, s, req)
	case "chart":
		err = setCardChart(ctx, v, s, card, words)
	case "table":
		if req.SelectsAll() && len(v.columns.Charts) > 0 {
			err = setFirstChart(ctx, v, s, card)
		}
	}
	if err == nil && card.Map == nil && card.Figure == nil && card.Number == "" {
		card.Columns, err = newCardColumns(ctx, v, s)
	}
	return card, err
}

// describeCard returns what the rows of a preview have in common, or what the dataset is. Filters
// that the font of previews cannot show are counted.
func describeCard(d *herb.Dataset, words state.Words) string {
	if len(words.Conditions) == 0 {
		if about := format.MarkdownText(d.Description); about != "" && share.CanDraw(about) {
			return herb.Clip(format.PlainText(about), 120)
		}
		return herb.Plural(len(d.Fields), "column", "columns")
	}
	shown := slices.DeleteFunc(slices.Clone(words.Conditions), func(c string) bool { return !share.CanDraw(c) })
	if hidden := len(words.Conditions) - len(shown); hidden > 0 {
		shown = append(shown, herb.Plural(hidden, "filter", "filters"))
	}
	return strings.Join(shown, " · ")
}

// newCardMap returns the rows of a map, in front of all rows; nil if the dataset has no map.
func (p *pictures) newCardMap(ctx context.Context, v datasetView, s *state.State,
	req *query.Request) (*share.Map, error) {
	pairs := v.columns.Pairs
	if len(pairs) == 0 {
		return nil, nil
	}
	all, err := selectRows(nil, v.Fields)
	if err != nil {
		return nil, err
	}
	pair := pairs[maps.PairIndex(s, pairs)]
	fit, err := v.fitMap(ctx, s, pair, all, maps.PreviewColumns)
	if err != nil {
		return nil, err
	}
	q := fit.Grid
	m := &share.Map{Stretch: maps.Stretch(q.Bounds), MinX: 10 * q.Bounds.MinX, MinY: -10 * q.Bounds.MaxY,
		MaxX: 10 * q.Bounds.MaxX, MaxY: -10 * q.Bounds.MinY, Land: p.coasts().land(q.Bounds)}
	if !req.SelectsAll() {
		m.All, m.HighestAll, err = v.dots(ctx, pair, *q, all)
		if err != nil {
			return nil, err
		}
	}
	m.Matching, m.Highest, err = v.dots(ctx, pair, *q, req)
	return m, err
}

// dots returns the numbers of rows of a listing in the cells of a map, and the highest of them.
func (v datasetView) dots(ctx context.Context, pair columns.Pair, q query.GridRequest, req *query.Request) (
	dots []share.Dot, highest int, err error) {
	q.Request = maps.RequestOf(pair, req)
	grid, err := v.Grid(ctx, &q)
	b := q.Bounds
	width, height := (b.MaxX-b.MinX)/float64(q.Columns), (b.MaxY-b.MinY)/float64(q.Rows)
	for _, c := range grid.Cells {
		dots = append(dots, share.Dot{X: 10 * (b.MinX + (float64(c.Column)+.5)*width),
			Y: -10 * (b.MinY + (float64(c.Row)+.5)*height), Count: c.Count})
		highest = max(highest, c.Count)
	}
	return dots, highest, err
}

// setFirstChart sets the chart of a preview of all rows: the first one of the dataset. Its title
// follows the number of rows.
func setFirstChart(ctx context.Context, v datasetView, s *state.State, card *share.Card) error {
	first := *s
	first.Question = nil
	title, err := drawCardChart(ctx, v, &first, card)
	if card.Figure != nil && share.CanDraw(title) {
		card.Detail = title
	}
	return err
}

// drawCardChart draws the chart of a state in a preview, and returns its title.
func drawCardChart(ctx context.Context, v datasetView, s *state.State, card *share.Card) (title string, err error) {
	if err := v.readScales(ctx); err != nil {
		return "", err
	}
	q, err := charts.ParseQuestion(s)
	if err != nil {
		return "", err
	}
	answer, _, err := answerQuestion(ctx, v, s, q, charts.Paths{})
	if err != nil {
		return "", err
	}
	card.Number = answer.Big
	if figure := answer.Fit(share.FigureWidth, share.FigureHeight); figure.Height > 0 {
		card.Figure = &figure
	}
	return format.PlainText(answer.Title), nil
}

// setCardChart sets the chart of a preview. Its title becomes the heading.
func setCardChart(ctx context.Context, v datasetView, s *state.State, card *share.Card, words state.Words) error {
	title, err := drawCardChart(ctx, v, s, card)
	if err != nil {
		return err
	}
	if share.CanDraw(title) {
		detail := card.Detail
		card.Heading, card.Detail = title, words.Rows
		if len(words.Conditions) > 0 {
			card.Detail += " · " + detail
		}
	}
	return nil
}

// newCardColumns returns the distributions of a few columns: the filtered ones first.
func newCardColumns(ctx context.Context, v datasetView, s *state.State) (columns []share.Column, err error) {
	const most = 3
	var candidates []int
	for _, p := range s.Listing {
		if i, _, ok := query.ResolveFilter(p.Name, v.Fields); ok && !slices.Contains(candidates, i) {
			candidates = append(candidates, i)
		}
	}
	for _, i := range s.ShownColumns() {
		if !slices.Contains(candidates, i) {
			candidates = append(candidates, i)
		}
	}
	found, err := countColumns(ctx, s, v, candidates)
	for _, c := range found {
		if column, ok := newCardColumn(&v.Dataset, c); ok && len(columns) < most {
			columns = append(columns, column)
		}
	}
	return columns, err
}

// newCardColumn returns the distribution of a column; ok is false if it says nothing, or not in
// characters that the font of previews has.
func newCardColumn(d *herb.Dataset, c distributions.Distribution) (column share.Column, ok bool) {
	column.Name = format.PlainText(columns.Heading(d.Fields[c.Index]))
	if !share.CanDraw(column.Name) {
		column.Name = ""
	}
	switch c.Kind {
	case "hist":
		column.Left, column.Right = c.Left, c.Right
		for _, b := range c.Bars {
			bar := share.Bar{Share: b.HeightShare(b.Height), Behind: b.HeightShare(b.Ghost)}
			if b.Out {
				bar.Behind, bar.Share = max(bar.Behind, bar.Share), 0
			}
			column.Bars = append(column.Bars, bar)
		}
		return column, len(c.Bars) > 1
	case "cat":
		column.Values = newCardValues(c)
		return column, len(column.Values) > 1
	}
	return column, false
}

// newCardValues returns the most frequent values of all rows, with their shares of the matching
// ones.
func newCardValues(c distributions.Distribution) (values []share.Bar) {
	const most = 4
	all, counts := c.Proportions, map[string]int{}
	if c.Ghosts != nil {
		all = c.Ghosts
	}
	highest, highestAll := 1, 1
	for _, part := range c.Proportions {
		if part.Href != "" && (!c.Chosen || part.Active) {
			counts[part.Value], highest = part.Count, max(highest, part.Count)
		}
	}
	if c.Chosen {
		all = c.Proportions // the counts ignore the filter of the column itself
	}
	for _, part := range all {
		highestAll = max(highestAll, part.Count)
	}
	for _, part := range all {
		if part.Href == "" || len(values) == most || !share.CanDraw(part.Shown()) {
			continue
		}
		bar := share.Bar{Label: format.PlainText(part.Shown()), Share: float64(counts[part.Value]) / float64(highest),
			Behind: float64(part.Count) / float64(highestAll)}
		if c.Chosen {
			bar.Share = float64(counts[part.Value]) / float64(highestAll)
		}
		values = append(values, bar)
	}
	return values
}
