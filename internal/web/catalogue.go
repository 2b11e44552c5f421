package web

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/web/view"
)

// catalogue is the front page: the list of datasets.
type catalogue struct {
	Base      string
	Search    string
	Namespace string // empty: all
	Keyword   string // empty: any
	Sort      string
	Sorts     []view.Link
	Reset     string // link to all datasets
	Total     int    // datasets
	Found     int    // datasets that match
	Rows      int    // of all datasets
	Groups    []group
	Matches   *rowMatches // rows that match the search; nil: no search
	Prev      string
	Next      string
	Page      int
	Pages     int
	HasKey    bool               // the browser has a key
	Rejected  []herb.SourceError // that the visitor may see
}

// group is adjacent datasets of the same namespace.
type group struct {
	Namespace string // empty: the list is not grouped
	Href      string
	Datasets  []entry
}

// entry is a dataset in the catalogue.
type entry struct {
	view.Head
	Summary      string
	Keywords     []view.Link // to all datasets that have them
	MoreKeywords int         // that are not shown
	Spark        string      // URL of its chart; empty: none
	Age          string
	Failed       bool // its newest file was rejected, and the visitor may see that
}

// rowMatches are the rows of all datasets that match a search.
type rowMatches struct {
	library.RecordMatches
	Links []view.Link // to datasets with matching rows, with their number
	More  int         // datasets that are not shown
}

const datasetsPerPage = 50

// The parameters of the catalogue besides search, sort and page, and the orders.
const (
	paramNamespace = "namespace"
	paramKeyword   = "keyword"
	sortName       = "name"
	sortRows       = "rows"
	sortUpdated    = "updated"
)

// catalogue serves the list of datasets.
func (p *Pages) catalogue(w http.ResponseWriter, r *http.Request) error {
	params, err := query.ParseParams(r.URL.RawQuery)
	if err != nil {
		return err
	}
	live, err := p.opts.Library.Live(r.Context())
	if err != nil {
		return fmt.Errorf("list datasets: %w", err)
	}
	rejected, err := p.rejections(r)
	if err != nil {
		return err
	}
	if p.Key(r) != "" {
		setPrivate(w)
	}
	c := catalogue{
		Base: p.base, Search: params.Get(query.ParamSearch), Namespace: params.Get(paramNamespace), Keyword: params.Get(paramKeyword), Sort: params.Get(query.ParamSort),
		Reset: p.base + pathCatalogue, Total: len(live), HasKey: p.Key(r) != "",
		Rejected: slices.SortedFunc(maps.Values(rejected), func(a, b herb.SourceError) int { return a.Ref.Compare(b.Ref) }),
	}
	if c.Sort != sortRows && c.Sort != sortUpdated {
		c.Sort = sortName
	}
	for _, v := range live {
		c.Rows += v.Records
	}
	searches := strings.TrimSpace(c.Search) != ""
	if searches || c.Keyword != "" {
		if live, err = p.opts.Library.Search(r.Context(), c.Search, c.Keyword); err != nil {
			return fmt.Errorf("search datasets: %w", err)
		}
	}
	if searches {
		if c.Matches, err = p.searchRows(r, c.Search); err != nil {
			return err
		}
	}
	live = c.selectAndSort(live)
	c.Found = len(live)
	from, err := c.paginate(params)
	if err != nil {
		return err
	}
	datasets, err := p.opts.Library.Datasets(r.Context(), live[from:min(from+datasetsPerPage, len(live))], true)
	if err != nil {
		return fmt.Errorf("describe datasets: %w", err)
	}
	for i := range datasets {
		_, failed := rejected[datasets[i].Ref]
		c.add(p.entry(&datasets[i], failed))
	}
	l := p.layout(r, siteName, fmt.Sprintf("%s to browse, search and filter, each with an API.", herb.Plural(c.Total, "dataset", "datasets")))
	l.Current, l.Canonical = "catalogue", p.origin(r)+pathCatalogue
	l.JSONLD = catalogueJSONLD(p.origin(r), datasets)
	return p.render(w, "catalogue", l, &c)
}

// selectAndSort returns the datasets of the namespace in the order of the page, and sets the links to other orders.
func (c *catalogue) selectAndSort(live []herb.LiveVersion) []herb.LiveVersion {
	for _, s := range []struct{ label, sort string }{{"Name", sortName}, {"Rows", sortRows}, {"Updated", sortUpdated}} {
		c.Sorts = append(c.Sorts, view.Link{Label: s.label, Href: c.href(s.sort, 1), Current: c.Sort == s.sort})
	}
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

// href returns the URL of a page of the catalogue in an order.
func (c *catalogue) href(sort string, page int) string {
	ps := query.Params{{Name: query.ParamSearch, Value: c.Search}, {Name: paramNamespace, Value: c.Namespace}, {Name: paramKeyword, Value: c.Keyword}}
	if sort != sortName {
		ps = append(ps, query.Param{Name: query.ParamSort, Value: sort})
	}
	if page > 1 {
		ps = append(ps, query.Param{Name: query.ParamPage, Value: strconv.Itoa(page)})
	}
	return view.Join(c.Base+pathCatalogue, slices.DeleteFunc(ps, func(p query.Param) bool { return p.Value == "" }).Encode())
}

// parsePage returns the request for the page of a list of datasets that the parameters name.
func parsePage(params query.Params, perPage int) (*query.Request, error) {
	req, err := query.Parse(query.Params{{Name: query.ParamPage, Value: params.Get(query.ParamPage)}}.Encode(), nil)
	if err == nil {
		req.PerPage = perPage
	}
	return req, err
}

// paginate selects a page and returns the position of its first dataset.
func (c *catalogue) paginate(params query.Params) (from int, err error) {
	req, err := parsePage(params, datasetsPerPage)
	if err != nil {
		return 0, err
	}
	m := req.Meta(c.Found)
	c.Page, c.Pages = m.Page, m.TotalPages
	if m.HasPrev {
		c.Prev = c.href(c.Sort, min(m.Page-1, m.TotalPages))
	}
	if m.HasNext {
		c.Next = c.href(c.Sort, m.Page+1)
	}
	return min(req.Offset(), c.Found), nil
}

// add appends a dataset. Datasets in the order of their names are grouped by namespace.
func (c *catalogue) add(e entry) {
	namespace := ""
	if c.Sort == sortName {
		namespace = e.Namespace
	}
	if n := len(c.Groups); n == 0 || c.Groups[n-1].Namespace != namespace {
		c.Groups = append(c.Groups, group{Namespace: namespace, Href: catalogueHref(c.Base, paramNamespace, namespace)})
	}
	last := &c.Groups[len(c.Groups)-1]
	last.Datasets = append(last.Datasets, e)
}

// catalogueHref returns the link to the datasets that match a parameter.
func catalogueHref(base, param, value string) string {
	return view.Join(base+pathCatalogue, query.Params{{Name: param, Value: value}}.Encode())
}

func (p *Pages) entry(d *herb.Dataset, failed bool) entry {
	const maxSummary, maxKeywords, maxKeyword = 200, 5, 40
	e := entry{Head: view.NewHead(d, p.base, p.datasetPath(d.Ref), "", ""), Summary: herb.Clip(view.MarkdownText(d.Description), maxSummary), Failed: failed}
	keywords := view.ReadDescriptor(d).Keywords
	for _, k := range keywords[:min(len(keywords), maxKeywords)] {
		e.Keywords = append(e.Keywords, view.Link{Label: herb.Clip(k, maxKeyword), Href: catalogueHref(p.base, paramKeyword, k)})
	}
	e.MoreKeywords = len(keywords) - len(e.Keywords)
	switch {
	case e.Mutable:
		e.Age = "live"
	case !d.Published.IsZero():
		e.Age = view.Age(time.Now(), d.Published)
	}
	if !e.Locked && !e.Mutable && !e.Unavailable && d.Records > 0 {
		e.Spark = view.Join(e.Path+"/spark.svg", query.Params{{Name: paramVersion, Value: d.Version}}.Encode())
	}
	return e
}

// searchRows counts the matching rows of all datasets that the visitor may read. The last word may be incomplete, as it is in the
// search of a table while you type.
func (p *Pages) searchRows(r *http.Request, search string) (*rowMatches, error) {
	const shown = 12
	last, _ := utf8.DecodeLastRuneInString(search)
	if strings.Count(search, `"`)%2 == 0 && (unicode.IsLetter(last) || unicode.IsNumber(last) || unicode.IsMark(last)) {
		search += "*"
	}
	found, err := library.SearchRecords(r.Context(), p.opts.Library, search, library.SearchOptions{
		MayRead: p.mayRead(r), Budget: p.opts.SearchBudget, Admit: p.opts.AdmitSearch,
	})
	if herb.CodeOf(err) == herb.CodeInvalid { // the names of datasets are still searched
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("search rows: %w", err)
	}
	m := &rowMatches{RecordMatches: found, More: max(len(found.Datasets)-shown, 0)}
	for _, d := range found.Datasets[:min(len(found.Datasets), shown)] {
		dataset := herb.Dataset{Ref: d.Ref, Title: d.Title}
		m.Links = append(m.Links, view.Link{
			Label: view.Title(&dataset), Detail: herb.Count(d.Total), Href: view.Join(p.datasetPath(d.Ref), query.Params{{Name: query.ParamSearch, Value: search}}.Encode()),
		})
	}
	return m, nil
}
