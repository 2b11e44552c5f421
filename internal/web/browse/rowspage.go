// Package browse serves the catalogue and the pages of datasets: table, map, chart, record,
// description, versions, previews, frames for other sites, and metadata for machines.
//
// It decides which page answers a request, and in which order: read the state of the view from the
// address (package state), redirect to its canonical address, ask for a key if the visitor may not
// read, answer from the copy of the client if that is current, run the operations that the page
// shows, and fill the view models of packages under view, which do no I/O. handlers.go has the
// paths; there is a file for each page. rowspage.go has what the table, the map and the chart
// share.
package browse

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
	"herbarium/internal/web/site"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/filters"
	"herbarium/internal/web/view/maps"
	"herbarium/internal/web/view/snippets"
	"herbarium/internal/web/view/state"
	"herbarium/internal/web/view/tables"
)

// rowsPage is a view of the rows of a dataset: the table, the map or the chart.
type rowsPage struct {
	Head    datasets.Head
	Invalid []state.InvalidParam // the rows are shown without them; one without a name: the query as a whole is invalid
	State   *state.State         // of the rows that are shown

	Words   state.Words // which rows are shown
	Search  string      // as requested, like the chips
	Whole   string      // result of wholeSearch
	Chips   []filters.Chip
	Clear   string // link without any filter
	Filters filters.FieldMenu
	Columns filters.FieldMenu
	Order   tables.Order
	Table   *tables.Table // nil: no columns
	Map     *maps.Map     // nil: the view is not the map
	Chart   *chartView    // nil: the view is not the chart
	Changes *comparison   // nil: the view is not the comparison of versions
	Pager   *tables.Pager
	Record  *tables.Record
	Meant   []filters.Meant // if there are no rows

	Full        string // of an embedded view: link to its page
	Address     string // of the view, for print
	URL         string // of the API call
	Readable    string // its path and query, without escapes where that is unambiguous
	NoScript    string // the same of the call for what is drawn without a script; empty: the same call
	ShowsCounts bool   // the call returns counts, not rows
	Snippets    []snippets.Snippet
}

func (p *rowsPages) browse(w *httpapi.Page, r *http.Request, v datasetView) error {
	return p.serveRows(w, r, v, nil)
}

// serveRows serves the map of one of the pairs of coordinates, or the table if there are none.
func (p *rowsPages) serveRows(w *httpapi.Page, r *http.Request, v datasetView, pairs []columns.Pair) error {
	s, canonical, parseErr := p.parseState(r, v)
	tab, template, title := "table", "browser", ""
	if pairs != nil {
		tab, template, title = "map", "map", "Map: "
		s.Path += "/map"
	}
	if !canonical {
		return site.Redirect(w, s.URL())
	}
	if v.Denied != nil {
		return p.RequestKey(w, r, &v.DatasetView, r.URL.RawQuery, v.Denied)
	}
	var page rowsPage
	lost, err := openRow(r.Context(), v, &s)
	if err != nil {
		return err
	}
	req, rejected, err := page.parse(s, parseErr, v)
	if err != nil {
		return err
	}
	if lost != nil {
		page.Invalid, rejected = append(page.Invalid,
			state.InvalidParam{Name: state.ParamRow, Message: herb.MessageOf(lost)}), lost
	}
	if rejected == nil && p.notModified(w, r, v) {
		return nil
	}
	page.Head, err = p.head(w, r, v, tab)
	if err != nil {
		return err
	}
	if err := page.setControls(r.Context(), &s, v); err != nil {
		return err
	}
	if err := page.list(r.Context(), v, req); err != nil {
		return err
	}
	switch {
	case pairs != nil:
		err = p.setMap(r.Context(), &page, v, req, pairs)
	case s.Distributions && page.Table != nil:
		err = addDistributions(r.Context(), page.State, v, page.Table)
	}
	if err != nil {
		return err
	}
	if s.Embed {
		return cmp.Or(p.renderEmbed(w, r, v, &page, title), rejected)
	}
	if page.Table != nil && page.Invalid == nil && page.Pager.Scrolls() {
		page.setMore(v)
	}
	page.setCall(p.datasetPages, r, v)
	l := p.Shell(r, title+page.Words.Title(datasets.Title(&v.Dataset)), datasets.Describe(&v.Dataset))
	p.setSharing(&l, r, v, &page)
	l.Feeds = page.Head.Feeds()
	p.setPreview(&l, page.State, &page.Head, page.Words.String())
	page.Address = l.Address
	l.Images, l.Framed = len(v.columns.Images) > 0, true
	if pairs == nil && v.Pinned == "" {
		l.Canonical = l.Origin + site.PathDatasets + v.Ref.String()
	}
	if err := p.Render(w, template, l, &page); err != nil {
		return err
	}
	p.describedBy(w, v)
	return rejected
}

// parse parses the listing of a state. If the listing is rejected, the page shows the rows without
// the invalid parameters, or if its words have too many other forms, without these.
func (page *rowsPage) parse(s state.State, parseErr error, v datasetView) (req *query.Request, rejected, err error) {
	page.State = &s
	req, err = s.Request(v.Order)
	if err == nil {
		err = parseErr
	}
	tooManyWords := false
	if err == nil {
		_, err = v.View.Words(req)
		tooManyWords = herb.CodeOf(err) == herb.CodeInvalid
	}
	if herb.CodeOf(err) != herb.CodeInvalid {
		return req, nil, err
	}
	rejected = err
	if tooManyWords {
		s.Listing = s.Listing.WithValue(query.ParamWords, query.WordsExact)
	} else {
		s.Listing, page.Invalid = s.ValidListing()
	}
	if page.Invalid == nil {
		page.Invalid = []state.InvalidParam{{Message: herb.MessageOf(rejected)}}
	}
	req, err = s.Request(v.Order)
	return req, rejected, err
}

// notModified responds with 304 if the client has a page, and reports whether it did. Pages that
// depend on the key of the browser have no entity tag.
func (p *datasetPages) notModified(w *httpapi.Page, r *http.Request, v datasetView) bool {
	if v.Access.NeedsKey() || p.Key(r) != "" {
		return false
	}
	parts := []string{v.Version, v.Live, p.Origin(r), site.ThemeOf(r), r.URL.Path, site.TagOfQuery(r.URL.RawQuery)}
	if f := v.FreshnessAt(time.Now()); f.State != "" { // the head shows it
		parts = append(parts, string(f.State))
	}
	return site.MatchTag(w, r, p.Tag(parts...))
}

// setControls sets the bar above the rows. Chips and inputs show the state as requested, so that
// invalid parameters can be corrected; links lead to the state as shown.
func (page *rowsPage) setControls(ctx context.Context, s *state.State, v datasetView) error {
	page.Search, page.Filters = s.Listing.Get(query.ParamSearch), filters.NewFilterMenu(page.State)
	page.Chips, page.Clear = filters.NewChips(s, page.Invalid)
	if page.Invalid != nil {
		return nil
	}
	var err error
	page.Whole, err = wholeSearch(s.Listing, v)
	if err != nil {
		return err
	}
	var forms []*filters.Filter
	for _, chip := range page.Chips {
		if chip.Open && chip.Form != nil {
			forms = append(forms, chip.Form)
		}
	}
	return countValues(ctx, s, v, forms)
}

// list sets the rows and what depends on them.
func (page *rowsPage) list(ctx context.Context, v datasetView, req *query.Request) error {
	found, err := v.list(ctx, req, page.valueLimits(req))
	if err != nil {
		return err
	}
	s, rows := page.State, found.rows
	table := tables.NewTable(s, req, rows)
	page.Columns, page.Order = filters.NewColumnMenu(s), tables.NewOrder(s, req, table.Headers)
	page.Head.SetListing(s, found.Total)
	page.Words = state.NewWords(s, found.Total)
	page.Pager = tables.NewPager(s, req.Meta(found.Total), len(rows))
	if len(table.Headers) > 0 {
		page.Table = table
		page.Record = tables.NewRecord(s, req, rows, found.Records, found.Total)
		if page.Record != nil && !page.Head.Mutable {
			page.Record.History = s.HistoryHref(page.Head.Path, rows[s.Record-1])
		}
	}
	if found.Total == 0 && page.Invalid == nil {
		page.Meant, err = findMeant(ctx, s, v, req)
	}
	return err
}

// setCall sets the API call of the view: the listing of its rows, or the counts of a map. The
// script draws points instead of counts unless there are too many.
func (page *rowsPage) setCall(p *datasetPages, r *http.Request, v datasetView) {
	path, params := site.PathAPI+v.Ref.String()+"/data", page.State.Call()
	if page.Map != nil {
		gridPath := site.PathAPI + v.Ref.String() + "/grid"
		page.ShowsCounts = page.Map.Points == ""
		if page.ShowsCounts {
			path, params = gridPath, page.Map.Call
		} else {
			page.NoScript = state.Join(p.Base+gridPath, state.ReadableQuery(page.Map.Call))
		}
	}
	rows := snippets.Records
	if page.ShowsCounts {
		rows = snippets.Counts
	}
	page.showCall(p, r, path, params, rows)
}

// showCall shows an API call with programs that make it.
func (page *rowsPage) showCall(p *datasetPages, r *http.Request, path string, params query.Params, rows snippets.Rows) {
	page.URL = state.Join(p.Origin(r)+path, params.Encode())
	page.Readable = state.Join(p.Base+path, state.ReadableQuery(params))
	page.Snippets = snippets.Calls(snippets.Call{URL: page.URL, Locked: page.Head.Locked, Rows: rows})
}
