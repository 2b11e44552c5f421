package web

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view"
)

// catalogue is the front page: the list of datasets.
type catalogue struct {
	Base     string
	Search   string
	Total    int // datasets
	Found    int // datasets that match the search
	Rows     int // of all datasets
	Datasets []entry
	Prev     string
	Next     string
	Page     int
	Pages    int
	HasKey   bool               // the browser has a key
	Rejected []herb.SourceError // that the visitor may see
}

// entry is a dataset in the catalogue.
type entry struct {
	view.Head
	ColumnNames string
}

const datasetsPerPage = 48

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
	c := catalogue{HasKey: p.Key(r) != "", Rejected: sortRejections(rejected), Base: p.base, Search: params.Get(query.ParamSearch), Total: len(live)}
	for _, v := range live {
		c.Rows += v.Records
	}
	if c.Search != "" {
		if live, err = p.opts.Library.Search(r.Context(), c.Search); err != nil {
			return fmt.Errorf("search datasets: %w", err)
		}
	}
	c.Found = len(live)
	from, err := c.paginate(p.base, params.Get(query.ParamPage))
	if err != nil {
		return err
	}
	datasets, err := p.opts.Library.Datasets(r.Context(), live[from:min(from+datasetsPerPage, len(live))], false)
	if err != nil {
		return fmt.Errorf("describe datasets: %w", err)
	}
	for i := range datasets {
		c.Datasets = append(c.Datasets, p.entry(&datasets[i]))
	}
	l := p.layout(r, siteName, fmt.Sprintf("%s to browse, search and filter, each with an API.", view.Plural(c.Total, "dataset", "datasets")))
	l.Current, l.Canonical = "catalogue", p.origin(r)+pathCatalogue
	l.JSONLD = catalogueJSONLD(p.origin(r), datasets)
	return p.render(w, "catalogue", http.StatusOK, l, &c)
}

// paginate selects a page and returns the position of its first dataset.
func (c *catalogue) paginate(base, page string) (from int, err error) {
	req, err := query.Parse(query.Params{{Name: query.ParamPage, Value: page}}.Encode(), nil)
	if err != nil {
		return 0, err
	}
	req.PerPage = datasetsPerPage
	m := req.Meta(c.Found)
	c.Page, c.Pages = m.Page, m.TotalPages
	href := func(n int) string {
		ps := query.Params{{Name: query.ParamSearch, Value: c.Search}, {Name: query.ParamPage, Value: strconv.Itoa(n)}}
		return view.Join(base+pathCatalogue, slices.DeleteFunc(ps, func(p query.Param) bool { return p.Value == "" }).Encode())
	}
	if m.HasPrev {
		c.Prev = href(min(m.Page-1, m.TotalPages))
	}
	if m.HasNext {
		c.Next = href(m.Page + 1)
	}
	return min(req.Offset(), c.Found), nil
}

func (p *Pages) entry(d *herb.Dataset) entry {
	const shown = 8
	var names []string
	for _, f := range d.Fields[:min(len(d.Fields), shown)] {
		names = append(names, view.Heading(f))
	}
	list := strings.Join(names, ", ")
	if len(d.Fields) > shown {
		list += " …"
	}
	return entry{Head: p.head(d, ""), ColumnNames: list}
}
