package web

import (
	"net/http"

	"herbarium/internal/etag"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/web/view"
)

// browsePage is the data browser of a dataset.
type browsePage struct {
	Head    view.Head
	Invalid *invalidQuery // nil: the query is valid

	Search       string
	Hidden       query.Params // parameters that the search form carries along
	Chips        []view.Chip
	Clear        string // link without any chip
	Filters      []view.Filter
	MoreFilters  int
	FacetsPath   string // where the script requests counts; empty: nowhere
	Columns      view.ColumnChoices
	ColumnHidden query.Params

	Meta     query.Meta
	Order    string // in words
	Table    *view.Table
	Pager    *view.Pager
	LastPage string // link, for pages past the end
	Record   *view.Record

	CSV, JSON string // same-origin addresses, to which the browser sends its key
	URL       string // of the API call
	Snippets  []view.Snippet
}

// invalidQuery says why a query was rejected. The page shows the rows without the invalid parameters.
type invalidQuery struct {
	Message string
	Params  []string
}

// browse serves the data browser.
func (p *Pages) browse(w http.ResponseWriter, r *http.Request, v library.View) error {
	s, canonical, parseErr := view.ParseState(p.datasetPath(v.Ref), r.URL.RawQuery, v.Fields)
	if !canonical {
		return redirect(w, s.URL())
	}
	if err := p.authorize(r, &v.Dataset); err != nil {
		return p.requestKey(w, r, &v.Dataset, r.URL.RawQuery, err)
	}
	if p.opts.Folder(v.Ref) != "" {
		s.Files = s.Path + "/files/"
	}
	req, shown, invalid, err := resolve(s, parseErr, v.Order)
	if err != nil {
		return err
	}
	setCaching(w, &v.Dataset)
	page, status := browsePage{Invalid: invalid}, http.StatusOK
	if invalid != nil {
		status = http.StatusBadRequest
	} else if p.notModified(w, r, &v.Dataset) {
		return nil
	}
	if err := p.buildControls(r, &page, &s, &shown, v); err != nil {
		return err
	}
	if err := page.list(r, &shown, v, req); err != nil {
		return err
	}
	l := p.layout(r, view.Title(&v.Dataset), view.Describe(&v.Dataset))
	l.Canonical = p.origin(r) + pathDatasets + v.Ref.String()
	l.Images = view.HasImages(&v.Dataset)
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

// notModified sets the entity tag of a page, and responds with 304 if the client has that page. Pages of datasets that
// require a key have no tag.
func (p *Pages) notModified(w http.ResponseWriter, r *http.Request, d *herb.Dataset) bool {
	if d.Access == herb.AccessKey {
		return false
	}
	tag := etag.New(p.opts.Version, p.assets.fingerprint, d.Version, p.origin(r), themeOf(r), r.URL.RawQuery)
	w.Header().Set("Etag", tag)
	if !etag.Match(r.Header, tag) {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

// buildControls sets everything but the rows. Chips and inputs show the state as requested, so that invalid parameters can
// be corrected; links lead to the state as shown.
func (p *Pages) buildControls(r *http.Request, page *browsePage, s, shown *view.State, v library.View) (err error) {
	page.Head = p.head(&v.Dataset, "data")
	page.Head.Unlocked = page.Head.Locked
	page.Search = s.Listing.Get(query.ParamSearch)
	page.Filters, page.MoreFilters = view.NewFilters(s, &v.Dataset)
	var invalid []string
	if page.Invalid == nil {
		page.FacetsPath = s.Path + "/facets"
		if err := countFilters(r.Context(), s, v, page.Filters, s.Facets); err != nil {
			return err
		}
	} else {
		invalid = page.Invalid.Params
	}
	page.Chips, page.Clear = view.NewChips(s, invalid)
	page.Hidden = view.Hidden(shown, page.Filters)
	page.ColumnHidden = view.WithoutColumns(shown)
	page.CSV = view.Join(s.Path+"/data.csv", shown.AnyPage().Without(query.ParamPerPage).Encode())
	page.JSON = view.Join(s.Path+"/data", shown.Listing.Encode())
	page.URL = view.Join(p.listingURL(r, v.Ref), shown.Listing.Encode())
	page.Snippets, err = view.NewSnippets(p.snippets, page.URL, page.Head.Locked)
	return err
}

// list sets the rows.
func (page *browsePage) list(r *http.Request, s *view.State, v library.View, req *query.Request) error {
	found, err := v.List(r.Context(), req)
	if err != nil {
		return err
	}
	page.Meta = req.Meta(found.Total)
	page.Order = orderInWords(req, v.Fields)
	page.LastPage = s.PageHref(page.Meta.TotalPages)
	var columns []view.Column
	columns, page.Columns = s.ShownColumns(&v.Dataset)
	if len(found.Records) == 0 {
		return nil
	}
	rows, err := view.DecodeRows(found.Records, v.Fields)
	if err != nil {
		return err
	}
	page.Table = view.NewTable(s, columns, req, rows, found.Total)
	page.Pager = view.NewPager(s, page.Meta)
	page.Record = view.NewRecord(s, &v.Dataset, req, rows, found.Records)
	return nil
}

func orderInWords(req *query.Request, fields []herb.Field) string {
	switch {
	case len(req.Sort) > 0:
		words := "sorted by "
		for i, f := range req.Sort {
			if i > 0 {
				words += ", then "
			}
			words += view.Heading(fields[f.Field])
			if f.Desc {
				words += ", descending"
			}
		}
		return words
	case req.ByRelevance():
		return "best matches first"
	}
	return "original order"
}
