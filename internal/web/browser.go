package web

import (
	"context"
	"html/template"
	"net/http"
	"slices"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

// browser is a page of records with all that can be done to it.
type browser struct {
	Head datasetHead

	Search   string
	Hidden   params // parameters that the form of the filters carries along
	Filters  []filter
	Unshown  int // filters that are too many to be shown
	Chips    []chip
	ClearAll string

	Error   string // why nothing is listed
	Meta    query.Meta
	From    int
	To      int
	Columns []column
	Rows    template.HTML
	Record  *record
	Pages   []pageLink
	Prev    string
	Next    string
	Jump    params // parameters that the form of the page number carries along
	Sizes   []pageLink
	Sorted  string // in words

	Chooser     []choice
	ChooserMore int
	ChooserKeep params
	CSV         string
	Call        call
}

// pageLink is a link to a page, or to another size of it.
type pageLink struct {
	Text    string
	Href    string
	Current bool
	Gap     bool
}

// choice is a column that can be shown.
type choice struct {
	Name, Heading string
	Shown         bool
}

// What a page has room for: datasets may have ten thousand fields.
const (
	maxColumns = 12  // shown unless others are chosen
	maxChosen  = 60  // shown at most
	maxChoices = 250 // offered
)

// browse answers with the data browser.
func (p *Pages) browse(w http.ResponseWriter, r *http.Request) error {
	snap, err := p.acquire(r)
	if err != nil {
		return err
	}
	defer snap.Release()
	s, readable := parseState(p.datasetPath(snap.Ref), r.URL.RawQuery)
	s.columns = knownFields(s.columns, snap.Fields)
	if readable && s.untidy {
		return redirect(w, s.clean())
	}
	if err := p.admit(r, snap.Dataset); err != nil {
		return p.askKey(w, r, snap.Dataset, r.URL.RawQuery, err)
	}
	b := browser{Head: p.datasetHead(snap.Dataset, "data"), Search: s.listing.get(query.ParamSearch)}
	b.Head.Unlocked = b.Head.Locked
	b.Columns = p.columns(&s, snap.Dataset)
	b.chips(&s, snap.Fields)
	status := http.StatusOK
	raw := s.listing.encode()
	if !readable {
		raw = r.URL.RawQuery
	}
	req, err := query.ParseOrdered(raw, snap.Fields, snap.Order)
	if err == nil {
		err = b.list(r.Context(), &s, snap, req)
	} else if herb.CodeOf(err) == herb.CodeInvalid {
		status, b.Error, err = http.StatusBadRequest, herb.MessageOf(err), nil
	}
	if err != nil {
		return err
	}
	if b.Filters, err = p.filters(r.Context(), &s, snap, req); err != nil {
		return err
	}
	b.Filters, b.Unshown = shownFilters(b.Filters)
	b.controls(&s, snap.Dataset)
	b.Call = p.call(r, snap.Dataset, s.listing)
	l := p.layout(r, nameOf(snap.Dataset), describe(snap.Dataset))
	l.Images = slices.ContainsFunc(snap.Fields, func(f herb.Field) bool { return kindOf(f, snap.Report) == kindImage })
	l.Canonical = p.origin(r) + pathDatasets + snap.Ref.String()
	if l.JSONLD, err = p.jsonLD(r, snap.Dataset); err != nil {
		return err
	}
	setCaching(w, snap.Dataset)
	return p.render(w, "browser", status, l, &b)
}

// list finds the records.
func (b *browser) list(ctx context.Context, s *state, snap library.Snapshot, req *query.Request) error {
	page, err := snap.List(ctx, req)
	if err != nil {
		return err
	}
	b.Meta = req.Meta(page.Total)
	b.Sorted = sortedInWords(req, snap)
	records := make([][]string, len(page.Records))
	values := make([]string, len(records)*len(snap.Fields))
	for i, rec := range page.Records {
		records[i], values = values[:len(snap.Fields):len(snap.Fields)], values[len(snap.Fields):]
		if err := decodeRecord(rec, records[i]); err != nil {
			return err
		}
	}
	if len(records) > 0 {
		b.From, b.To = req.Offset()+1, req.Offset()+len(records)
	}
	b.Rows = rows(s, b.Columns, req, records)
	if i := s.record - 1; i >= 0 && i < len(records) {
		b.Record = newRecord(s, snap.Dataset, req, records, page.Records[i])
	}
	b.paging(s)
	return nil
}

// sortedInWords tells in which order the records come.
func sortedInWords(req *query.Request, snap library.Snapshot) string {
	switch {
	case req.Sort != query.NoSort && req.Desc:
		return "by " + headingOf(snap.Fields[req.Sort]) + ", descending"
	case req.Sort != query.NoSort:
		return "by " + headingOf(snap.Fields[req.Sort])
	case req.ByRelevance():
		return "best matches first"
	}
	return "in the order of the source"
}

// knownFields returns the names that are those of fields, each once: an old link may name others.
func knownFields(names []string, fields []herb.Field) []string {
	var known []string
	for _, n := range names {
		if herb.FieldIndex(fields, n) >= 0 && !slices.Contains(known, n) && len(known) < maxChosen {
			known = append(known, n)
		}
	}
	return known
}

// columns returns the columns to show: the chosen ones in the order of the fields, or the first ones.
func (p *Pages) columns(s *state, d herb.Dataset) []column {
	var out []column
	sort, desc := s.listing.get(query.ParamSort), s.listing.get(query.ParamOrder) == "desc"
	if sort == "" && s.listing.get(query.ParamSearch) == "" {
		sort, desc = d.Order.Field, d.Order.Desc
	}
	for i, f := range d.Fields {
		if len(s.columns) > 0 && !slices.Contains(s.columns, f.Name) || len(s.columns) == 0 && len(out) == maxColumns {
			continue
		}
		c := column{Field: f, Index: i, Kind: kindOf(f, d.Report), Heading: headingOf(f)}
		if f.Sortable {
			c.Sort, c.NextSort = s.href(s.sorted(f.Name)), "sort ascending"
			switch {
			case f.Name == sort && desc:
				c.Ordered, c.NextSort = "descending", "stop sorting"
			case f.Name == sort:
				c.Ordered, c.NextSort = "ascending", "sort descending"
			}
		}
		out = append(out, c)
	}
	return out
}

// headingOf returns what people call a field.
func headingOf(f herb.Field) string {
	if plainText(f.Title) != "" {
		return f.Title
	}
	return f.Name
}

// Class returns the style of the cells of a column.
func (c column) Class() string {
	switch c.Kind {
	case kindNumber, kindCode:
		return "num"
	case kindDate:
		return "date"
	case kindImage:
		return "image"
	}
	return ""
}

// paging makes the links to other pages: the first, the last, and those around this one.
func (b *browser) paging(s *state) {
	m := b.Meta
	if m.HasPrev {
		b.Prev = s.pageHref(min(m.Page-1, m.TotalPages))
	}
	if m.HasNext {
		b.Next = s.pageHref(m.Page + 1)
	}
	b.Jump = s.own(s.narrowed())
	last := 0
	for _, n := range []int{1, m.Page - 2, m.Page - 1, m.Page, m.Page + 1, m.Page + 2, m.TotalPages} {
		if n <= last || n > m.TotalPages {
			continue
		}
		if n > last+1 {
			b.Pages = append(b.Pages, pageLink{Gap: true})
		}
		last = n
		b.Pages = append(b.Pages, pageLink{Text: herb.Count(n), Href: s.pageHref(n), Current: n == m.Page})
	}
}

// controls makes what stands around the table.
func (b *browser) controls(s *state, d herb.Dataset) {
	perPage := b.Meta.PerPage
	for _, n := range []int{10, 25, 50, query.MaxPerPage} {
		listing := s.narrowed().without(query.ParamPerPage)
		if n != query.DefaultPerPage {
			listing = listing.with(pair{query.ParamPerPage, strconv.Itoa(n)})
		}
		b.Sizes = append(b.Sizes, pageLink{Text: strconv.Itoa(n), Href: s.href(listing), Current: n == perPage})
	}
	for i, f := range d.Fields {
		shown := slices.ContainsFunc(b.Columns, func(c column) bool { return c.Index == i })
		if len(b.Chooser) < maxChoices || shown {
			b.Chooser = append(b.Chooser, choice{f.Name, headingOf(f), shown})
		}
	}
	b.ChooserMore = len(d.Fields) - len(b.Chooser)
	bare := *s
	bare.columns = nil
	b.ChooserKeep = bare.own(s.listing)
	b.CSV = join(s.path+"/data.csv", s.listing.without(query.ParamPage, query.ParamPerPage).encode())
	b.Hidden = slices.DeleteFunc(s.own(s.narrowed()), func(p pair) bool {
		return p.name == query.ParamSearch || slices.ContainsFunc(b.Filters, func(f filter) bool { return f.owns(p.name) })
	})
}

// Name returns the name of a parameter, for templates.
func (p pair) Name() string { return p.name }

// Value returns the value of a parameter, for templates.
func (p pair) Value() string { return p.value }

// describe returns a sentence about a dataset for search engines and previews.
func describe(d herb.Dataset) string {
	if plainText(d.Description) != "" {
		return d.Description
	}
	return plural(d.Records, "record", "records") + " with " + plural(len(d.Fields), "field", "fields") +
		": browse, search and filter them, or read them through the API."
}
