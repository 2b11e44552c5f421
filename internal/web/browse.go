package web

import (
	"context"
	"net/http"
	"net/url"

	"herbarium/internal/etag"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/web/view"
)

// controls are the two bars at the top of a view of rows.
type controls struct {
	Head    view.Head
	Invalid *invalidQuery // nil: the query is valid

	Path    string // of the view
	Search  string
	Hidden  query.Params // parameters that the search form carries along
	Chips   []view.Chip
	Clear   string // link without any filter
	Filters view.FieldMenu
	Total   int // rows that match

	FacetsPath, ChartsPath string // where the script requests counts; empty: nowhere
}

// browsePage is the table of a dataset.
type browsePage struct {
	controls
	Columns  view.FieldMenu
	Meta     query.Meta
	Order    view.Order
	Table    *view.Table // nil: no rows
	Pager    *view.Pager
	LastPage string // link, for pages past the end
	Record   *view.Record

	URL      string // of the API call
	Readable string // its path and query, without escapes where that is unambiguous
	Snippets []view.Snippet
}

// invalidQuery says why a query was rejected. The page shows the rows without the invalid parameters.
type invalidQuery struct {
	Message string
	Params  []string
}

// browse serves the table.
func (p *Pages) browse(w http.ResponseWriter, r *http.Request, v library.View) error {
	s, canonical, parseErr := p.parseState(r.URL.RawQuery, &v.Dataset)
	if !canonical {
		return redirect(w, s.URL())
	}
	if err := p.authorize(r, &v.Dataset); err != nil {
		return p.requestKey(w, r, &v.Dataset, r.URL.RawQuery, err)
	}
	req, shown, invalid, err := resolve(s, parseErr, v.Order)
	if err != nil {
		return err
	}
	setCaching(w, &v.Dataset)
	status := http.StatusOK
	if invalid != nil {
		status = http.StatusBadRequest
	} else if p.notModified(w, r, &v.Dataset) {
		return nil
	}
	page := browsePage{}
	if page.controls, err = p.controls(r.Context(), "table", &s, &shown, v, invalid); err != nil {
		return err
	}
	if err := p.setRejection(w, r, &page.Head); err != nil {
		return err
	}
	if err := page.list(r.Context(), &shown, v, req); err != nil {
		return err
	}
	if s.Charts && page.Table != nil {
		if err := p.addCharts(r.Context(), &shown, v, page.Table); err != nil {
			return err
		}
	}
	if err := page.setCall(p, r, &shown, v); err != nil {
		return err
	}
	l := p.layout(r, view.Title(&v.Dataset), view.Describe(&v.Dataset))
	l.Canonical = p.origin(r) + pathDatasets + v.Ref.String()
	l.Images = view.HasImages(&v.Dataset)
	l.Framed = true
	l.JSONLD = datasetJSONLD(p.origin(r), &v.Dataset)
	return p.render(w, "browser", status, l, &page)
}

// resolve parses the listing of a page. If it is invalid, shown is the state without the invalid parameters.
func resolve(s view.State, parseErr error, order herb.Order) (req *query.Request, shown view.State, invalid *invalidQuery, err error) {
	if req, err = s.Request(order); err == nil {
		err = parseErr
	}
	if herb.CodeOf(err) != herb.CodeInvalid {
		return req, s, nil, err
	}
	shown, invalid = s, &invalidQuery{Message: herb.MessageOf(err)}
	shown.Listing, invalid.Params = s.ValidListing()
	req, err = shown.Request(order)
	return req, shown, invalid, err
}

// notModified sets the entity tag of a page, and responds with 304 if the client has that page. Pages that depend on the key of
// the browser have no tag.
func (p *Pages) notModified(w http.ResponseWriter, r *http.Request, d *herb.Dataset) bool {
	if d.Access == herb.AccessKey || p.Key(r) != "" {
		return false
	}
	tag := etag.New(p.opts.Version, p.assets.fingerprint, d.Version, p.origin(r), themeOf(r), r.URL.Path, r.URL.RawQuery)
	w.Header().Set("Etag", tag)
	if !etag.Match(r.Header, tag) {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

// controls returns the bars of a view. Chips and inputs show the state as requested, so that invalid parameters can be
// corrected; links lead to the state as shown.
func (p *Pages) controls(ctx context.Context, tab string, s, shown *view.State, v library.View, invalid *invalidQuery) (controls, error) {
	c := controls{
		Head: p.head(&v.Dataset, tab), Invalid: invalid, Path: s.Path, Search: s.Listing.Get(query.ParamSearch),
		Hidden: shown.Hidden(query.ParamSearch), Filters: view.NewFilterMenu(shown),
	}
	c.Head.Unlocked = c.Head.Locked
	var params []string
	message := ""
	if invalid != nil {
		params, message = invalid.Params, invalid.Message
	} else {
		c.FacetsPath, c.ChartsPath = c.Head.Path+"/facets", c.Head.Path+"/charts"
	}
	c.Chips, c.Clear = view.NewChips(s, params, message)
	var forms []*view.Filter
	for _, chip := range c.Chips {
		if chip.Open && chip.Form != nil && invalid == nil {
			forms = append(forms, chip.Form)
		}
	}
	return c, countValues(ctx, s, v, forms)
}

// list sets the rows and what depends on them.
func (page *browsePage) list(ctx context.Context, s *view.State, v library.View, req *query.Request) error {
	found, err := v.List(ctx, req)
	if err != nil {
		return err
	}
	rows, err := view.DecodeRows(found.Records, v.Fields)
	if err != nil {
		return err
	}
	page.Meta, page.Total = req.Meta(found.Total), found.Total
	page.LastPage = s.PageHref(page.Meta.TotalPages)
	table, columns := view.NewTable(s, req, rows, found.Total)
	page.Columns, page.Order = view.NewColumnMenu(s), view.NewOrder(s, req, columns)
	page.Head.SetListing(s, found.Total)
	page.Pager = view.NewPager(s, page.Meta, len(rows))
	if len(rows) > 0 {
		page.Table = table
		page.Record = view.NewRecord(s, req, rows, found.Records, found.Total)
	}
	return nil
}

// setCall sets the API call that lists the rows.
func (page *browsePage) setCall(p *Pages, r *http.Request, s *view.State, v library.View) (err error) {
	page.URL = view.Join(p.listingURL(r, v.Ref), s.Call().Encode())
	page.Readable = page.URL
	if u, err := url.Parse(page.URL); err == nil {
		page.Readable = view.Join(u.Path, view.ReadableQuery(s.Call()))
	}
	page.Snippets, err = view.NewSnippets(p.snippets, page.URL, page.Head.Locked)
	return err
}

// record serves the open record of a page alone, for the script to insert into it.
func (p *Pages) record(w http.ResponseWriter, r *http.Request, v library.View) error {
	if err := p.authorize(r, &v.Dataset); err != nil {
		return keyRequired(v.Ref)
	}
	s, _, err := p.parseState(r.URL.RawQuery, &v.Dataset)
	if err != nil {
		return err
	}
	req, err := s.Request(v.Order)
	if err != nil {
		return err
	}
	page := browsePage{}
	if err := page.list(r.Context(), &s, v, req); err != nil {
		return err
	}
	if page.Record == nil {
		return herb.Errorf(herb.CodeNotFound, "no such row; %s is the position of a row on its page", view.ParamRecord)
	}
	p.setFragmentHeaders(w, &v.Dataset)
	return p.templates["browser"].ExecuteTemplate(w, "record", page.Record)
}
