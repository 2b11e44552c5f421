package agents

import (
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

// searchDatasets lists datasets, as GET /api/v1. If none matches, it counts the records that match,
// as GET /api/v1/search.
func (c *toolCall) searchDatasets() (*block, error) {
	pages, err := c.args.pageRequest(strconv.Itoa(maxRows))
	if err != nil {
		return nil, err
	}
	params := query.Params{}.WithValue(query.ParamSearch, c.args.query)
	if pages.Page > 1 {
		params = params.WithValue(query.ParamPage, c.args.page)
	}
	if pages.PerPage < maxRows {
		params = params.WithValue(query.ParamPerPage, c.args.perPage)
	}
	if _, err := c.log(params).Only(query.KindCatalogue); err != nil {
		return nil, err
	}
	live, err := c.Library.Search(c.r.Context(), c.args.query, "")
	if err != nil {
		return nil, err
	}
	if len(live) == 0 && strings.TrimSpace(c.args.query) != "" {
		return c.searchRecords(pages)
	}
	datasets, err := c.Library.Datasets(c.r.Context(), pageOf(live, pages), false)
	if err != nil {
		return nil, err
	}
	b := newBlock(withQuery(c.Origin(c.r)+"/api/v1", params), "")
	b.Total = len(live)
	header := []string{"dataset", "title", "records", "access", "version", "fields", "description"}
	b.table("", header)
	for _, d := range datasets {
		access := "open"
		if d.Access.NeedsKey() {
			access = "requires a key"
		}
		names, _ := clipCell(joinNames(d.Fields), maxCell)
		description, _ := clipCell(d.Description, maxCell)
		if !b.add(header, []string{d.Ref.String(), d.Title, strconv.Itoa(d.Records), access, d.Version, names, description}) {
			break
		}
	}
	b.describeRows("datasets", pages, len(datasets))
	return b, nil
}

// joinNames joins the names of fields, as many as a cell may need.
func joinNames(fields []herb.Field) string {
	var b strings.Builder
	for i, f := range fields {
		if b.Len() > maxCell*4 {
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f.Name)
	}
	return b.String()
}

// pageOf returns the elements of a list that a page has.
func pageOf[T any](list []T, pages *query.Request) []T {
	from := min(pages.Offset(), len(list))
	return list[from:min(from+pages.PerPage, len(list))]
}

// searchRecords lists the datasets in whose records the words occur.
func (c *toolCall) searchRecords(pages *query.Request) (*block, error) {
	params := query.Params{{Name: query.ParamSearch, Value: c.args.query}}
	found, err := library.SearchRecords(c.r.Context(), c.Library, c.args.query, c.Gate.OptionalPrincipal(c.w, c.r), c.SearchBudget)
	if err != nil {
		return nil, err
	}
	b := newBlock(withQuery(c.Origin(c.r)+"/api/v1/search", params), "")
	b.Total = len(found.Datasets)
	b.partial = found.Partial
	shown := pageOf(found.Datasets, pages)
	if len(shown) > 0 {
		b.note("no name or description matches; these datasets have records that match")
	}
	if found.Partial {
		b.cuts = append(b.cuts, "some datasets were not searched in time: use fewer or rarer words")
	}
	header := []string{"dataset", "title", "matching records"}
	b.table("", header)
	for _, d := range shown {
		if !b.add(header, []string{d.Ref.String(), d.Title, strconv.Itoa(d.Total)}) {
			break
		}
	}
	b.describeRows("datasets", pages, len(shown))
	b.head += " with " + herb.Plural(found.Total, "matching record", "matching records")
	return b, nil
}
