package web

import (
	"bytes"
	"context"
	"html/template"
	"io"
	"net/http"
	"slices"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

// browser is a page of records with all that can be done to it.
type browser struct {
	Path    string
	Total   int // records of the dataset
	Error   string
	Search  string
	Hidden  params // parameters that the form of the filters carries along
	Chips   []chip
	Clear   string // address without any of them
	Filters template.HTML
	Unshown int // filters that are too many to be shown

	Meta     query.Meta
	From, To int
	Table    []byte
	Record   *record
	Pager    template.HTML
	LastPage string
	Jump     params // parameters that the form of the page number carries along
	Sizes    template.HTML
	Sorted   string // in words

	Chooser     template.HTML
	ChooserKeep params
	CSV         string
	Call        call
	CallHTML    template.HTML
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
	if kept := sh.entrance.Load(); entrance && kept != nil {
		setCaching(w, snap.Dataset)
		p.secure(w.Header(), sh.images)
		_, err := w.Write(*kept)
		return err
	}
	raw := s.listing.encode()
	if !readable {
		raw = r.URL.RawQuery
	}
	status := http.StatusOK
	b := browser{Path: s.path, Total: snap.Records, Search: s.listing.get(query.ParamSearch)}
	req, err := query.ParseOrdered(raw, snap.Fields, snap.Order)
	switch herb.CodeOf(err) {
	case herb.CodeInvalid:
		status, b.Error = http.StatusBadRequest, herb.MessageOf(err)
	default:
		if err != nil {
			return err
		}
		if err := b.list(r.Context(), &s, sh, snap, req); err != nil {
			return err
		}
	}
	b.chips(&s, snap.Fields)
	if err := p.controls(r, &b, &s, sh, snap, req); err != nil {
		return err
	}
	setCaching(w, snap.Dataset)
	p.secure(w.Header(), sh.images)
	w.WriteHeader(status)
	if !entrance {
		return p.writeBrowser(w, sh, &b)
	}
	var page bytes.Buffer
	if err := p.writeBrowser(&page, sh, &b); err != nil {
		return err
	}
	sh.entrance.Store(new(page.Bytes()))
	_, err = w.Write(page.Bytes())
	return err
}

// writeBrowser writes the whole page.
func (p *Pages) writeBrowser(w io.Writer, sh *shell, b *browser) error {
	if _, err := w.Write(sh.start); err != nil {
		return err
	}
	t := p.templates["browser"]
	if err := t.ExecuteTemplate(w, "before", b); err != nil {
		return err
	}
	if b.From > 0 {
		if _, err := w.Write(b.Table); err != nil { // it is large, and templates copy
			return err
		}
	}
	if err := t.ExecuteTemplate(w, "after", b); err != nil {
		return err
	}
	_, err := w.Write(sh.end)
	return err
}

// list finds the records.
func (b *browser) list(ctx context.Context, s *state, sh *shell, snap library.Snapshot, req *query.Request) error {
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
	b.Table = table(s, sh.shown(s), req, records)
	if i := s.record - 1; i >= 0 && i < len(records) {
		b.Record = newRecord(s, snap.Dataset, req, records, page.Records[i])
	}
	b.Pager, b.Sizes = pager(s, b.Meta), sizes(s, b.Meta.PerPage)
	b.Jump = s.own(s.narrowed())
	if b.Meta.TotalPages > 0 {
		b.LastPage = begin(b.Jump) + params{{query.ParamPage, strconv.Itoa(b.Meta.TotalPages)}}.encode()
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

// controls makes what stands around the table. req is nil where the address is wrong.
func (p *Pages) controls(r *http.Request, b *browser, s *state, sh *shell, snap library.Snapshot, req *query.Request) (err error) {
	b.Filters, b.Unshown, b.Hidden = sh.filters, sh.unshown, s.own(s.narrowed().without(query.ParamSearch))
	if used := s.filters(snap.Fields); len(used) > 0 || len(s.facets) > 0 {
		if b.Filters, b.Unshown, err = p.filterList(r.Context(), s, sh, snap, req); err != nil {
			return err
		}
		b.Hidden = slices.DeleteFunc(b.Hidden, func(x pair) bool { return ownedByInput(x.name, used, &snap.Dataset) })
	}
	b.Chooser = sh.chooser
	if len(s.columns) > 0 {
		if b.Chooser, err = p.execute("browser", "choices", choices(sh.columns, sh.shown(s))); err != nil {
			return err
		}
	}
	bare := *s
	bare.columns = nil
	b.ChooserKeep = bare.own(s.listing)
	b.CSV = join(s.path+"/data.csv", s.listing.without(query.ParamPage, query.ParamPerPage).encode())
	b.Call = p.call(r, snap.Dataset, s.listing)
	b.CallHTML = b.Call.html()
	return nil
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
