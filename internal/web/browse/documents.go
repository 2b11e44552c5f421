package browse

import (
	"context"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"herbarium/internal/export"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
	"herbarium/internal/web/site"
	"herbarium/internal/web/view/charts"
	"herbarium/internal/web/view/citation"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/snippets"
	"herbarium/internal/web/view/state"
)

// documentPage is a page that describes a dataset: About, which has everything, or API.
type documentPage struct {
	Head        datasets.Head
	State       *state.State // of the rows that the visitor comes from
	URL         string       // of their listing
	Agents      string       // the address for agents; empty if they are not served
	Rows        int          // in the listing; -1: not counted
	Returned    string       // which of them the call returns
	AllHref     string       // the file with all of them; empty: the call returns all
	Operators   []query.Op
	Columns     []columnDoc // the first ones
	Hidden      bool        // reports and values are not shown, because the browser has no valid key
	Description template.HTML
	Descriptor  datasets.Descriptor
	Report      *herb.Report      // nil: there is none, or it is hidden
	Quality     *datasets.Quality // nil: there is no report
	Charts      []pinnedChart     // that the publisher has chosen
	Programs    []snippets.Snippet
	Citations   []citation.Citation
	Problem     string // address to report a problem to; empty: the descriptor names no contact
}

// columnDoc is a column with some of its values.
type columnDoc struct {
	herb.Field
	PrimaryKey bool
	Examples   []string
	Report     *herb.ColumnReport // nil: there is none, or it is hidden
}

// Listed returns the first values that the column may have, with what they mean; empty if it may
// have any.
func (c columnDoc) Listed() string { return herb.ListCategories(c.Categories) }

// maxColumnDocs is how many columns a page documents.
const maxColumnDocs = 300

// about serves the description of a dataset. It is public, except for what may quote values.
func (p *documents) about(w *httpapi.Page, r *http.Request, v datasetView) error {
	page, err := p.newDocument(w, r, v, "about")
	if err != nil {
		return err
	}
	page.Description, err = format.Markdown(v.Description)
	if err != nil {
		return err
	}
	page.Citations = p.cite(r, v)
	if !page.Hidden {
		page.Descriptor, page.Report, page.Quality = datasets.ReadDescriptor(&v.Dataset), v.Report,
			datasets.NewQuality(v.columns)
		page.Problem = page.Descriptor.Contact.ProblemAddress(datasets.Title(&v.Dataset), p.permalink(r, v, page.State))
	}
	if !page.Hidden {
		if err := page.addCharts(r.Context(), p.datasetPages, v); err != nil {
			return err
		}
	}
	return p.renderDocument(w, r, v, "about", "About", &page)
}

// permalink returns the absolute address of the rows of a state in the version that is shown.
func (p *datasetPages) permalink(r *http.Request, v datasetView, s *state.State) string {
	rows := s.Call().Without(query.ParamPerPage)
	if v.Ref != herb.PlantsRef {
		rows = rows.WithValue(query.ParamVersion, v.Version)
	}
	return state.Join(p.Origin(r)+site.PathDatasets+v.Ref.String(), rows.Encode())
}

// pinnedChart is a chart of the description, and the link to its page.
type pinnedChart struct {
	*charts.Answer
	Href string
}

// addCharts adds the charts that the publisher has chosen.
func (page *documentPage) addCharts(ctx context.Context, p *datasetPages, v datasetView) error {
	path := p.DatasetPath(v.Ref)
	for _, chart := range charts.Pinned(v.columns) {
		s, _, err := state.ParseState(path+"/chart", query.Split(chart.Encode()), v.columns)
		if err != nil {
			return err
		}
		s.Version = v.Pinned
		q, err := charts.ParseQuestion(&s)
		if err != nil {
			return err
		}
		answer, _, err := answerQuestion(ctx, v, &s, q, charts.Paths{Table: path, Chart: path + "/chart"})
		if err != nil {
			return err
		}
		page.Charts = append(page.Charts, pinnedChart{answer, s.URL()})
	}
	return nil
}

// api serves the API reference of a dataset. The viewer at /docs documents and tries every
// operation.
func (p *documents) api(w *httpapi.Page, r *http.Request, v datasetView) error {
	page, err := p.newDocument(w, r, v, "api")
	if err != nil {
		return err
	}
	call := page.State.Call()
	if page.State.Listing.Get(query.ParamPerPage) == "" {
		call = call.Without(query.ParamPerPage)
	}
	req, err := query.Parse(call.Without(query.ParamVersion).Encode(), v.Fields)
	if err != nil {
		return err
	}
	page.Returned = returnedRows(req, page.Rows)
	page.URL, page.Operators = state.Join(p.Origin(r)+site.PathAPI+v.Ref.String()+"/data", call.Encode()), query.Ops()
	page.Programs, err = p.programs(r, v, &page)
	if err != nil {
		return err
	}
	if p.Opts.Agents {
		page.Agents = p.Origin(r) + "/mcp"
	}
	return p.renderDocument(w, r, v, "api", "API", &page)
}

// returnedRows says which rows of a view a request returns. rows is their number; -1: not counted.
func returnedRows(req *query.Request, rows int) string {
	from, to := req.Offset(), req.Offset()+req.PerPage
	switch {
	case rows < 0:
		return "up to " + herb.Plural(req.PerPage, "row", "rows")
	case from == 0 && to >= rows:
		return "all " + herb.Plural(rows, "row", "rows")
	case from >= rows:
		return "none of the " + herb.Plural(rows, "row", "rows")
	case from == 0:
		return "the first " + herb.Count(to) + " of the " + herb.Plural(rows, "row", "rows")
	}
	return "rows " + herb.Count(from+1) + " to " + herb.Count(min(to, rows)) + " of the " + herb.Count(rows)
}

// programs returns programs that read the rows of a view: as a file, or with its API call.
// Spreadsheets are refreshed, so they read the live version; notebooks are meant to be repeated, so
// they read the version that is live now. Parquet files exist of whole versions only.
func (p *documents) programs(r *http.Request, v datasetView, page *documentPage) ([]snippets.Snippet, error) {
	const rInCalls = "R" // reads the same as JSON
	file := snippets.File{Name: v.Ref.Namespace + "-" + v.Ref.Name, Locked: page.Head.Locked}
	if !page.Hidden {
		types, err := v.Types()
		if err != nil {
			return nil, err
		}
		file.SetColumns(v.Fields, types, page.State.Columns)
	}
	rows := page.State.Call().Without(query.ParamPage, query.ParamPerPage)
	data := p.Origin(r) + site.PathAPI + v.Ref.String() + "/data."
	pinned := rows
	if !page.Head.Mutable {
		pinned = rows.WithValue(query.ParamVersion, v.Version)
	}
	address := func(f export.Format, params query.Params) string {
		return state.Join(data+string(f), params.WithValue(query.ParamTyped, "true").Encode())
	}
	if !strings.HasPrefix(page.Returned, "all ") {
		page.AllHref = state.Join(p.Base+site.PathAPI+v.Ref.String()+"/data."+string(export.CSV), rows.Encode())
	}
	file.Live, file.Pinned = address(export.CSV, rows), address(export.CSV, pinned)
	file.NDJSON = address(export.NDJSON, pinned)
	if !page.Head.Mutable && rows.Without(query.ParamVersion).Encode() == "" {
		file.Parquet = state.Join(data+"parquet", pinned.Encode())
	}
	calls := snippets.Calls(snippets.Call{URL: page.URL, Locked: page.Head.Locked})
	calls = slices.DeleteFunc(calls, func(s snippets.Snippet) bool { return s.Name == rInCalls })
	return append(snippets.Files(file), calls...), nil
}

// newDocument documents the first columns of a dataset, with values of the first rows if they may
// be shown.
func (p *documents) newDocument(w *httpapi.Page, r *http.Request, v datasetView, tab string) (page documentPage,
	err error) {
	page = documentPage{Hidden: v.Denied != nil}
	page.Head, page.State, page.Rows, err = p.documentHead(w, r, v, tab)
	if err != nil {
		return page, err
	}
	for _, f := range v.Fields[:min(len(v.Fields), maxColumnDocs)] {
		page.Columns = append(page.Columns, columnDoc{Field: f, PrimaryKey: slices.Contains(v.PrimaryKey, f.Name)})
	}
	if !page.Hidden {
		err = addExamples(r.Context(), v, page.Columns)
	}
	return page, err
}

// documentHead returns the head of a page that describes a dataset. Its views and files keep the
// filters of the rows that the visitor comes from. rows is their number; -1: not counted, because
// the visitor may not read them.
func (p *datasetPages) documentHead(w *httpapi.Page, r *http.Request, v datasetView, tab string) (h datasets.Head,
	s *state.State, rows int, err error) {
	h, err = p.head(w, r, v, tab)
	if err != nil {
		return h, nil, -1, err
	}
	state, _, err := p.parseState(r, v)
	if err != nil {
		return h, nil, -1, err
	}
	state.Listing, _ = state.ValidListing()
	if v.Denied != nil {
		h.SetState(&state)
		return h, &state, -1, nil
	}
	req, err := selectRows(state.Listing, v.Fields)
	if err != nil {
		return h, nil, -1, err
	}
	req.PerPage = 1 // only the total is shown
	found, err := v.List(r.Context(), req)
	h.SetListing(&state, found.Total)
	return h, &state, found.Total, err
}

// addExamples adds the report and values of the first rows to the documentation of columns.
func addExamples(ctx context.Context, v datasetView, docs []columnDoc) error {
	const examples, maxExample = 3, 48
	req, err := query.Parse("", v.Fields)
	if err != nil {
		return err
	}
	found, err := v.list(ctx, req, func(_, field int) int {
		if field < len(docs) {
			return maxExample * utf8.UTFMax
		}
		return 0
	})
	if err != nil {
		return err
	}
	for i := range docs {
		c := &docs[i]
		c.Report = v.columns.Meanings[i].Report
		for _, row := range found.rows {
			if v := herb.Clip(row[i], maxExample); v != "" && len(c.Examples) < examples &&
				!slices.Contains(c.Examples, v) {
				c.Examples = append(c.Examples, strings.Clone(v)) // without the rest of the value
			}
		}
	}
	return nil
}

// docsPolicy is the content security policy of the viewer: its script sets inline styles, and its
// style sheet contains images.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; " +
	"img-src 'self' data:; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// docsPage is the viewer of the OpenAPI document, with datasets to choose from if the document
// does not describe all of them.
type docsPage struct {
	Selected string     // dataset whose operations are shown; empty: none
	Datasets []herb.Ref // the first ones
	Total    int
}

// docs serves the viewer of the OpenAPI document.
func (p *cataloguePages) docs(w *httpapi.Page, r *http.Request) error {
	const maxDatasets = 200
	params, live, err := p.openCatalogue(w, r)
	if err != nil {
		return err
	}
	if p.Opts.PrivateCatalog {
		w.SetPrivate()
	}
	page := docsPage{Selected: params.Get("dataset"), Total: len(live)}
	for _, v := range live[:min(len(live), maxDatasets)] {
		page.Datasets = append(page.Datasets, v.Ref)
	}
	l := p.Shell(r, "API", "All operations of the API, to read and to try.")
	l.Current, l.Canonical = "docs", l.Origin+site.PathDocs
	if err := p.Render(w, "docs", l, &page); err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", docsPolicy)
	return nil
}
