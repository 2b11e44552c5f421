package browse

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"herbarium/internal/changes"
	"herbarium/internal/export"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/httpapi/operations"
	"herbarium/internal/query"
	"herbarium/internal/versions"
	"herbarium/internal/web/site"
	"herbarium/internal/web/view/comparisons"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/filters"
	"herbarium/internal/web/view/snippets"
	"herbarium/internal/web/view/state"
	"herbarium/internal/web/view/tables"
)

// comparison is what changed between two versions, in a rowsPage.
type comparison struct {
	*comparisons.Table
	changes.Summary // of all kinds of changes
	Versions        []comparisons.Version
	Hidden          query.Params // carried along by the form that chooses the versions
	Kinds           []kindOfChange
	All             string // link to all kinds
	CSV, NDJSON     string // links to files; CSV is empty if a field has the name that it needs
	Selected        int    // changes of the selected kinds
}

// kindOfChange is a kind of changes that the page can be restricted to.
type kindOfChange struct {
	Op     query.ChangeOp
	Sign   string
	Count  int
	Href   string // with or without this kind
	Active bool   // the page is restricted to this kind, and perhaps others
}

// comparedVersions are two versions of a dataset, opened for a visitor.
type comparedVersions struct {
	from, to  datasetView
	history   []versions.Version
	params    query.Params // that name them and the kinds of changes
	rest      query.String // the other parameters
	canonical bool
	release   func()
}

// denied returns why the visitor may not read one of the versions, with that version; nil: the
// visitor may.
func (c *comparedVersions) denied() (*datasetView, error) {
	for _, v := range []*datasetView{&c.to, &c.from} {
		if v.Denied != nil {
			return v, v.Denied
		}
	}
	return nil, nil
}

// openVersions opens the versions that the URL names: the later one is the live one by default, the
// earlier one that before it. It fails with herb.CodeNotFound if there is none. The caller must
// release them.
func (p *versionPages) openVersions(w *httpapi.Page, r *http.Request, v datasetView) (c *comparedVersions, err error) {
	if p.Opts.Changes == nil || v.Reader == nil {
		return nil, herb.Errorf(herb.CodeNotFound,
			"%s has no versions: its records are listed as they are; there is nothing to compare", v.Ref)
	}
	c = &comparedVersions{to: v, rest: v.Query.Without(query.ParamFrom, query.ParamTo, query.ParamOp),
		canonical: v.Pinned == ""}
	for _, name := range []string{query.ParamFrom, query.ParamTo, query.ParamOp} {
		c.params = c.params.WithValue(name, v.Query.Get(name))
	}
	given := slices.DeleteFunc(slices.Clone(v.Query.RawParams()),
		func(raw query.RawParam) bool { return !slices.Contains(versionParams(), raw.Name) })
	c.canonical = c.canonical && len(given) == len(c.params)
	if v.Pinned != "" && c.params.Get(query.ParamTo) == "" {
		c.params = c.params.WithValue(query.ParamTo, v.Pinned)
	}
	c.release = func() {}
	defer func() {
		if err != nil {
			c.release()
		}
	}()
	open := func(of datasetView, name string) (datasetView, error) {
		other, err := w.OpenOther(of.DatasetView, name)
		if err == nil {
			before := c.release
			c.release = func() { other.Release(); before() }
		}
		return p.viewOf(other, of.results), err
	}
	if name := c.params.Get(query.ParamTo); name != "" && name != v.Pinned {
		c.to, err = open(v, name)
		if err != nil {
			return c, err
		}
	}
	c.history, err = p.visibleHistory(r.Context(), w, v.Ref)
	if err != nil {
		return c, err
	}
	name := c.params.Get(query.ParamFrom)
	if name == "" {
		at := slices.IndexFunc(c.history, func(i versions.Version) bool { return i.Version == c.to.Version })
		if at < 0 || at+1 >= len(c.history) {
			return c, herb.Errorf(herb.CodeNotFound, "no version before %s is kept; there is nothing to compare",
				c.to.Version)
		}
		name = c.history[at+1].Version
	}
	c.from, err = open(c.to, name)
	if err == nil && c.from.Access.NeedsKey() {
		w.SetPrivate()
	}
	return c, err
}

// versionParams returns the parameters of a comparison that no listing has.
func versionParams() []string { return []string{query.ParamFrom, query.ParamTo, query.ParamOp} }

// changes serves what changed between two versions.
func (p *versionPages) changes(w *httpapi.Page, r *http.Request, v datasetView) error {
	back := site.ViewChanges + "?" + r.URL.RawQuery
	if v.Denied != nil {
		return p.RequestKey(w, r, &v.DatasetView, back, v.Denied)
	}
	c, err := p.openVersions(w, r, v)
	if err != nil {
		return err
	}
	defer c.release()
	if denied, err := c.denied(); err != nil {
		return p.RequestKey(w, r, &denied.DatasetView, back, err)
	}
	s, canonical, err := c.parseState(p.datasetPages)
	if err != nil {
		return err
	}
	if !canonical {
		return site.Redirect(w, s.URL())
	}
	var page rowsPage
	req, rejected, err := page.parseChanges(&s, c)
	if err != nil {
		return err
	}
	ctx := r.Context()
	page.Head, err = p.head(w, r, v, "versions")
	if err != nil {
		return err
	}
	others := *page.State // other views have no changes
	others.Versions = nil
	page.Head.SetState(&others)
	page.Head.Download = nil
	if err := page.setControls(ctx, &s, c.to); err != nil {
		return err
	}
	page.addEarlierFilters(c)
	if err := page.compare(ctx, p.datasetPages, c, req); err != nil {
		return err
	}
	page.Changes.Versions, err = p.keptVersions(ctx, w, c)
	if err != nil {
		return err
	}
	page.setChangesCall(p.datasetPages, r, v)
	l := p.Shell(r, "Changes: "+datasets.Title(&v.Dataset), datasets.Describe(&v.Dataset))
	l.Framed = true
	if err := p.Render(w, "changes", l, &page); err != nil {
		return err
	}
	return rejected
}

// parseState parses the state of the page of changes.
func (c *comparedVersions) parseState(p *datasetPages) (s state.State, canonical bool, err error) {
	s, canonical, err = state.ParseState(p.DatasetPath(c.to.Ref)+"/changes", c.rest, c.to.columns)
	s.Versions = c.params
	return s, canonical && c.canonical, err
}

// parseChanges parses the request for the changes of a state. If it is rejected, the page shows the
// changes without the invalid parameters.
func (page *rowsPage) parseChanges(s *state.State, c *comparedVersions) (req *query.ChangesRequest, rejected,
	err error) {
	parse := func(ps query.Params) (*query.ChangesRequest, error) {
		return query.Of(ps).Changes(c.from.Fields, c.to.Fields, false)
	}
	shown := *s
	page.State = &shown
	op := s.Versions.Get(query.ParamOp)
	req, rejected = parse(s.Call().WithValue(query.ParamOp, op))
	if herb.CodeOf(rejected) != herb.CodeInvalid {
		return req, nil, rejected
	}
	shown.Listing = nil
	for _, p := range s.Listing {
		if _, err := parse(query.Params{p}); err != nil {
			page.Invalid = append(page.Invalid, state.InvalidParam{Name: p.Name, Message: herb.MessageOf(err)})
		} else {
			shown.Listing = append(shown.Listing, p)
		}
	}
	if _, err := parse(query.Params{}.WithValue(query.ParamOp, op)); err != nil {
		page.Invalid = append(page.Invalid, state.InvalidParam{Name: query.ParamOp, Message: herb.MessageOf(err)})
		shown.Versions, op = shown.Versions.Without(query.ParamOp), ""
	}
	req, err = parse(shown.Call().WithValue(query.ParamOp, op))
	if err != nil || page.Invalid == nil { // valid only one by one
		page.Invalid, shown.Listing = []state.InvalidParam{{Message: herb.MessageOf(rejected)}}, nil
		req, err = parse(shown.Call().WithValue(query.ParamOp, op))
	}
	return req, rejected, err
}

// addEarlierFilters adds the filters on fields that only the earlier version has.
func (page *rowsPage) addEarlierFilters(c *comparedVersions) {
	for _, param := range page.State.Listing {
		if _, _, ok := query.ResolveFilter(param.Name, c.to.Fields); ok {
			continue
		}
		if _, _, ok := query.ResolveFilter(param.Name, c.from.Fields); ok {
			page.Chips = append(page.Chips, filters.Chip{
				Name: param.Name, Heading: param.Name,
				Conditions: []state.Condition{{Relation: "=", Value: herb.Clip(param.Value, state.MaxChipValue)}},
				Remove:     page.State.Href(page.State.AnyPage().Without(param.Name)),
			})
		}
	}
}

// compare sets the changes and what depends on them.
func (page *rowsPage) compare(ctx context.Context, p *datasetPages, c *comparedVersions,
	req *query.ChangesRequest) error {
	all := *req // the counts of all kinds
	all.Ops = query.ChangeOps()
	requests := []*query.ChangesRequest{&all}
	if len(req.Ops) < len(all.Ops) {
		requests = append(requests, req)
	}
	found, err := operations.CompareVersions(ctx, p.Opts.Changes, &c.from.View, &c.to.View, requests...)
	if err != nil {
		return err
	}
	c.to.results.keep(found.Release)
	whole, selected := found.Selected[0], found.Selected[len(requests)-1]
	counts, err := whole.ChangedFields(ctx)
	if err != nil {
		return err
	}
	s := page.State
	page.Columns = filters.NewColumnMenu(s)
	page.Changes = &comparison{
		Table: comparisons.NewTable(s, c.from.Fields, counts, whole.Changed), Summary: whole.Summary,
		Selected: selected.Total(),
		Hidden:   s.Hidden(query.ParamFrom, query.ParamTo),
	}
	if err := page.Changes.addRows(ctx, s, c, selected, req, page.Head.Path); err != nil {
		return err
	}
	page.Changes.setKinds(s, whole.Summary)
	page.Changes.setFiles(s, page.Head.Path, selected)
	page.Pager = tables.NewPager(s, req.Meta(selected.Total()), len(page.Changes.Rows))
	return nil
}

// setKinds sets the links that restrict a page to kinds of changes.
func (c *comparison) setKinds(s *state.State, summary changes.Summary) {
	selected := strings.FieldsFunc(s.Versions.Get(query.ParamOp), func(r rune) bool { return r == ',' })
	href := func(ops []string) string {
		other := *s
		other.Versions = s.Versions.Without(query.ParamOp)
		if len(ops) < len(query.ChangeOps()) {
			other.Versions = other.Versions.WithValue(query.ParamOp, strings.Join(ops, ","))
		}
		return state.Join(s.Path, other.WithOwn(s.AnyPage()).Encode())
	}
	c.All = href(nil)
	for _, k := range []kindOfChange{{Op: query.OpAdded, Count: summary.Added},
		{Op: query.OpChanged, Count: summary.Changed}, {Op: query.OpRemoved, Count: summary.Removed}} {
		others := slices.DeleteFunc(slices.Clone(selected), func(op string) bool { return op == string(k.Op) })
		k.Active, k.Sign = len(others) < len(selected), comparisons.Sign(k.Op)
		k.Href = href(others)
		if !k.Active {
			k.Href = href(append(others, string(k.Op)))
		}
		c.Kinds = append(c.Kinds, k)
	}
}

// setFiles sets the links to files with the changes of the page. They are below the path of the
// dataset, so that the browser sends its key.
func (c *comparison) setFiles(s *state.State, path string, selected *changes.Changes) {
	params := changesCall(s).Without(query.ParamPage, query.ParamPerPage)
	file := func(format export.Format) string {
		return state.Join(path+"/changes."+string(format),
			params.WithValue(query.ParamFrom, c.From).WithValue(query.ParamTo, c.To).Encode())
	}
	c.NDJSON = file(export.NDJSON)
	if _, err := selected.UpdateFields(); err == nil {
		c.CSV = file(export.CSV)
	}
}

// changesCall returns the parameters of the API call for the changes of a state.
func changesCall(s *state.State) query.Params {
	return slices.Concat(s.Versions, s.Call())
}

// setChangesCall sets the API call of the page.
func (page *rowsPage) setChangesCall(p *datasetPages, r *http.Request, v datasetView) {
	params := changesCall(page.State)
	if params.Get(query.ParamFrom) == "" { // the page has a default
		params = slices.Concat(query.Params{{Name: query.ParamFrom, Value: page.Changes.From}}, params)
	}
	page.showCall(p, r, site.PathAPI+v.Ref.String()+"/changes", params, snippets.Changes)
}

// changesFragment returns a handler of a part of the page of changes: see fragment. It is about the
// later version.
func (p *versionPages) changesFragment(template string, build func(context.Context, *state.State, datasetView) (any,
	error)) httpapi.PageHandler {
	return p.dataset(func(w *httpapi.Page, r *http.Request, v datasetView) error {
		if v.Denied != nil {
			return v.Denied
		}
		c, err := p.openVersions(w, r, v)
		if err != nil {
			return err
		}
		defer c.release()
		if _, err := c.denied(); err != nil {
			return err
		}
		s, _, err := c.parseState(p.datasetPages)
		if err != nil {
			return err
		}
		data, err := build(r.Context(), &s, c.to)
		if err != nil {
			return err
		}
		return p.executeFragment(w, "changes", template, data)
	})
}
