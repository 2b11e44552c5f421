package browse

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/text"
	"herbarium/internal/web/site"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/state"
	"herbarium/internal/web/view/tables"
)

// catalogue is the front page: the list of datasets.
type catalogue struct {
	base      string // path of the public URL
	Search    string
	Namespace string // empty: all
	Keyword   string // empty: any
	Sort      string // datasets in the order of their names are grouped by namespace
	Total     int    // datasets
	Rows      int    // of all datasets
	Datasets  []listedDataset
	Meta      query.Meta         // of the datasets that match
	HasKey    bool               // the browser has a key
	Publish   bool               // the visitor may publish a dataset
	Rejected  []herb.SourceError // that the visitor may see

	Matches *library.RecordMatches // rows of all datasets that match the search; nil: no search
	Found   []foundDataset         // the first datasets with matching rows, and some of these
	Links   []state.Link           // to the next datasets with matching rows, with their number
}

// listedDataset is a dataset in the list.
type listedDataset struct {
	datasets.Head
	Spark string // what the small picture shows; empty: there is none
}

// foundDataset is a dataset with rows that match a search.
type foundDataset struct {
	state.Link
	Rows []foundRow
}

type foundRow struct {
	tables.FoundRow
	Href    string // of the record
	Count   int    // of the first matching rows that look the same
	HasMore bool   // there are other matching rows, which may look the same
}

const datasetsPerPage = 50

// The parameters of the catalogue besides the namespace, search, sort and page, and the orders.
const (
	paramKeyword = "keyword"
	sortName     = "name"
	sortRows     = "rows"
	sortUpdated  = "updated"
)

func (p *cataloguePages) catalogue(w *httpapi.Page, r *http.Request) error {
	params, live, err := p.openCatalogue(w, r)
	if err != nil {
		return err
	}
	rejected, err := p.Rejections(w, r)
	if err != nil {
		return err
	}
	if p.Key(r) != "" || p.Opts.PrivateCatalog {
		w.SetPrivate()
	}
	c := catalogue{
		base: p.Base, Search: params.Get(query.ParamSearch), Namespace: params.Get(site.ParamNamespace),
		Keyword: params.Get(paramKeyword), Sort: params.Get(query.ParamSort),
		Total: len(live), HasKey: p.Key(r) != "", Publish: p.drafts.MaySeePublish(w, r, herb.Ref{}),
		Rejected: slices.SortedFunc(maps.Values(rejected),
			func(a, b herb.SourceError) int { return a.Ref.Compare(b.Ref) }),
	}
	if c.Sort != sortRows && c.Sort != sortUpdated {
		c.Sort = sortName
	}
	for _, v := range live {
		c.Rows += v.Records
	}
	searches := strings.TrimSpace(c.Search) != ""
	if searches || c.Keyword != "" {
		live, err = p.Opts.Library.Search(r.Context(), c.Search, c.Keyword)
		if err != nil {
			return err
		}
	}
	if searches {
		if err := p.searchRows(w, r, &c); err != nil {
			return err
		}
	}
	found, meta, err := p.datasetsOnPage(r, params, c.selectAndSort(live), datasetsPerPage)
	if err != nil {
		return err
	}
	c.Meta = meta
	for i := range found {
		d := p.columns.Read(&found[i])
		h := datasets.NewHead(d, p.DatasetPath(d.Ref), "", "")
		if e, ok := rejected[h.Ref]; ok {
			h.Rejected = &e
		}
		c.Datasets = append(c.Datasets, listedDataset{h, sparkLabel(d)})
	}
	l := p.Shell(r, site.Name, fmt.Sprintf("%s to browse, search and filter, each with an API.",
		herb.Plural(c.Total, "dataset", "datasets")))
	l.Feeds = []state.Link{{Label: "New data", Href: p.Base + datasets.FeedFile}}
	l.Current, l.Canonical = "catalogue", l.Origin+site.PathCatalogue
	return p.Render(w, "catalogue", l, &c)
}

// openCatalogue returns the parameters of a request for the catalogue, and the live versions.
func (p *cataloguePages) openCatalogue(w *httpapi.Page, r *http.Request) (params query.Params, live []herb.LiveVersion,
	err error) {
	params, err = w.QueryString().Params()
	if err != nil {
		return nil, nil, err
	}
	live, err = p.Opts.Library.Live(r.Context())
	return params, live, err
}

// selectAndSort returns the datasets of the namespace in the order of the page.
func (c *catalogue) selectAndSort(live []herb.LiveVersion) []herb.LiveVersion {
	if c.Namespace != "" {
		live = slices.DeleteFunc(live, func(v herb.LiveVersion) bool { return v.Namespace != c.Namespace })
	}
	switch c.Sort {
	case sortRows:
		slices.SortStableFunc(live, func(a, b herb.LiveVersion) int { return b.Records - a.Records })
	case sortUpdated:
		slices.SortStableFunc(live, func(a, b herb.LiveVersion) int { return b.Published.Compare(a.Published) })
	}
	return live
}

// Href returns the URL of a page of the catalogue in an order.
func (c *catalogue) Href(sort string, page int) string {
	ps := query.Params{}.WithValue(query.ParamSearch, c.Search).WithValue(site.ParamNamespace,
		c.Namespace).WithValue(paramKeyword, c.Keyword)
	if sort != sortName {
		ps = ps.WithValue(query.ParamSort, sort)
	}
	if page > 1 {
		ps = ps.WithValue(query.ParamPage, strconv.Itoa(page))
	}
	return state.Join(c.base+site.PathCatalogue, ps.Encode())
}

// Prev returns the URL of the previous page, which exists.
func (c *catalogue) Prev() string { return c.Href(c.Sort, min(c.Meta.Page-1, c.Meta.TotalPages)) }

// Next returns the URL of the next page, which exists.
func (c *catalogue) Next() string { return c.Href(c.Sort, c.Meta.Page+1) }

// datasetsOnPage describes the datasets on the page that the parameters name.
func (p *datasetPages) datasetsOnPage(r *http.Request, params query.Params, live []herb.LiveVersion,
	perPage int) ([]herb.Dataset, query.Meta, error) {
	req, err := query.Parse(query.Params{{Name: query.ParamPage, Value: params.Get(query.ParamPage)}}.Encode(), nil)
	if err != nil {
		return nil, query.Meta{}, err
	}
	req.PerPage = perPage
	from := min(req.Offset(), len(live))
	datasets, err := p.Opts.Library.Datasets(r.Context(), live[from:min(from+perPage, len(live))], true)
	for i, d := range datasets {
		datasets[i] = herb.Principal{}.Describe(d) // the same for everybody: lists show no values
	}
	return datasets, req.Meta(len(live)), err
}

// searchRows counts the matching rows of all datasets that the visitor may read. The last word may
// be incomplete, as it is in the search of a table while you type, unless its other forms find
// more.
func (p *cataloguePages) searchRows(w *httpapi.Page, r *http.Request, c *catalogue) error {
	const shown = 12
	count := func(search string) (library.RecordMatches, error) {
		return library.SearchRecords(r.Context(), p.Opts.Library, search, w.Visitor(), p.Opts.SearchBudget)
	}
	search := c.Search
	last, _ := utf8.DecodeLastRuneInString(search)
	if strings.Count(search, `"`)%2 == 0 && (unicode.IsLetter(last) || unicode.IsNumber(last) || unicode.IsMark(last)) {
		search += "*"
	}
	found, err := count(search)
	words := text.AppendWords(nil, c.Search)
	if n := len(words); err == nil && search != c.Search && n > 0 && text.Forms(words[n-1]) != nil {
		var whole library.RecordMatches
		whole, err = count(c.Search)
		if whole.Total > found.Total { // other forms of the word, which do not begin with it
			search, found = c.Search, whole
		}
	}
	if herb.CodeOf(err) == herb.CodeInvalid { // the names of datasets are still searched
		return nil
	}
	if err != nil {
		return err
	}
	c.Matches = &found
	const inline = 4 // datasets whose first matches are shown
	for i, d := range found.Datasets[:min(len(found.Datasets), shown)] {
		dataset := herb.Dataset{Ref: d.Ref, Title: d.Title}
		link := state.Link{
			Label: datasets.Title(&dataset), Detail: herb.Count(d.Total),
			Href: state.Join(p.DatasetPath(d.Ref), query.Params{{Name: query.ParamSearch, Value: search}}.Encode()),
		}
		if i >= inline {
			c.Links = append(c.Links, link)
			continue
		}
		rows, err := p.findRows(w, r, d.Ref, search)
		if err != nil {
			return err
		}
		c.Found = append(c.Found, foundDataset{link, rows})
	}
	return nil
}

// findRows returns the first rows of a dataset that match a search. A dataset that is gone,
// unavailable or protected meanwhile has none.
func (p *cataloguePages) findRows(w *httpapi.Page, r *http.Request, ref herb.Ref, search string) (rows []foundRow,
	err error) {
	const most, read, maxValue = 3, 12, 4 << 10 // shown and read rows, and bytes of a value
	opened, err := w.OpenLive(ref)
	if code := herb.CodeOf(err); code == herb.CodeNotFound || code == herb.CodeUnavailable {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer opened.Release()
	if opened.Denied != nil {
		return nil, nil
	}
	v := p.viewOf(opened, &results{})
	defer v.results.free()
	params := query.Params{{Name: query.ParamSearch, Value: search},
		{Name: query.ParamPerPage, Value: strconv.Itoa(read)}}
	req, err := query.Parse(params.Encode(), v.Fields)
	if err != nil {
		return nil, err
	}
	found, err := v.list(r.Context(), req, func(int, int) int { return maxValue })
	if err != nil {
		return nil, err
	}
	for i, row := range found.rows {
		href := state.Join(p.DatasetPath(ref), query.Params{{Name: query.ParamSearch, Value: search},
			{Name: state.ParamRecord, Value: strconv.Itoa(i + 1)}}.Encode())
		line := tables.NewFoundRow(v.columns, req.Search, row)
		switch at := slices.IndexFunc(rows, func(r foundRow) bool { return r.Equal(line) }); {
		case at >= 0:
			rows[at].Count++
		case len(rows) < most:
			rows = append(rows, foundRow{line, href, 1, found.Total > len(found.rows)})
		}
	}
	return rows, nil
}
