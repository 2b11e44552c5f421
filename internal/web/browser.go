package web

import (
	"bytes"
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
	Path   string
	Total  int // records of the dataset
	Error  string
	Search string
	Chips  []chip
	Clear  string // address without any of them
	CSV    string
	JSON   string // where the browser reads the same answer with the key that it keeps

	Meta     query.Meta
	From, To int
	LastPage string

	state     *state
	shell     *shell
	req       *query.Request
	records   [][]string
	sorted    string        // in words
	hidden    params        // parameters that the form of the filters carries along
	url       string        // of the call
	filters   template.HTML // empty: those of the shell
	chooser   template.HTML // empty: that of the shell
	record    template.HTML // empty: none is opened
	noRecords template.HTML // why there are none to show
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
	sh, err := p.shellOf(r, snap)
	if err != nil {
		return err
	}
	entrance := r.URL.RawQuery == ""
	setCaching(w, snap.Dataset)
	p.secure(w.Header(), sh.images)
	if kept := sh.entrance.Load(); entrance && kept != nil {
		if unchanged(w, r, sh, &snap.Dataset) {
			return nil
		}
		return kept.writeTo(w)
	}
	raw := s.listing.encode()
	if !readable {
		raw = r.URL.RawQuery
	}
	status := http.StatusOK
	b := browser{Path: s.path, Total: snap.Records, Search: s.listing.get(query.ParamSearch), state: &s, shell: sh}
	b.req, err = query.ParseOrdered(raw, snap.Fields, snap.Order)
	switch herb.CodeOf(err) {
	case herb.CodeInvalid:
		status, b.Error = http.StatusBadRequest, herb.MessageOf(err)
	default:
		if err != nil {
			return err
		}
		if unchanged(w, r, sh, &snap.Dataset) {
			return nil
		}
		if err := p.list(r.Context(), &b, snap); err != nil {
			return err
		}
	}
	b.chips(&s, snap.Fields)
	if err := p.controls(r, &b, snap); err != nil {
		return err
	}
	if b.From == 0 {
		if b.noRecords, err = p.execute("browser", "state", &b); err != nil {
			return err
		}
	}
	w.WriteHeader(status)
	if !entrance {
		return p.writeBrowser(w, &b)
	}
	var page bytes.Buffer
	if err := p.writeBrowser(&page, &b); err != nil {
		return err
	}
	whole := piece{page.Bytes()}
	sh.entrance.Store(&whole)
	return whole.writeTo(w)
}

// list finds the records.
func (p *Pages) list(ctx context.Context, b *browser, snap library.Snapshot) error {
	s, req := b.state, b.req
	page, err := snap.List(ctx, req)
	if err != nil {
		return err
	}
	b.Meta = req.Meta(page.Total)
	b.sorted = sortedInWords(req, snap)
	if b.records, err = decodeRecords(page.Records, len(snap.Fields)); err != nil {
		return err
	}
	if len(b.records) > 0 {
		b.From, b.To = req.Offset()+1, req.Offset()+len(b.records)
	}
	if i := s.record - 1; i >= 0 && i < len(b.records) {
		opened := newRecord(s, snap.Dataset, req, b.records, page.Records[i])
		if b.record, err = p.execute("browser", "record", opened); err != nil {
			return err
		}
	}
	if b.Meta.TotalPages > 0 {
		b.LastPage = begin(s.own(s.narrowed())) + params{{query.ParamPage, strconv.Itoa(b.Meta.TotalPages)}}.encode()
	}
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

// headingOf returns what people call a field.
func headingOf(f herb.Field) string {
	if f.Title != "" && plainText(f.Title) != "" {
		return f.Title
	}
	return f.Name
}

// controls makes what stands around the table.
func (p *Pages) controls(r *http.Request, b *browser, snap library.Snapshot) (err error) {
	s := b.state
	b.hidden = s.own(s.narrowed().without(query.ParamSearch))
	if used := s.filters(snap.Fields); len(used) > 0 || len(s.facets) > 0 {
		if b.filters, err = p.filterList(r.Context(), s, b.shell, snap, b.req); err != nil {
			return err
		}
		b.hidden = slices.DeleteFunc(b.hidden, func(x pair) bool { return ownedByInput(x.name, used, &snap.Dataset) })
	}
	if len(s.columns) > 0 {
		if b.chooser, err = p.execute("browser", "choices", choices(b.shell.columns, b.shell.shown(s))); err != nil {
			return err
		}
	}
	listing := s.listing.encode()
	b.CSV = join(s.path+"/data.csv", s.listing.without(query.ParamPage, query.ParamPerPage).encode())
	b.JSON = join(s.path+"/data", listing)
	b.url = join(p.origin(r)+pathAPI+snap.Ref.String()+"/data", listing)
	return nil
}

// describe returns a sentence about a dataset for search engines and previews.
func describe(d herb.Dataset) string {
	if plainText(d.Description) != "" {
		return d.Description
	}
	return plural(d.Records, "record", "records") + " with " + plural(len(d.Fields), "field", "fields") +
		": browse, search and filter them, or read them through the API."
}
