package agents

import (
	"strconv"
	"strings"

	"herbarium/internal/httpapi/operations"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

// searchDatasets lists datasets, as GET /api/v1. If none matches, it counts the records that match,
// as GET /api/v1/search.
func (c *toolCall) searchDatasets() (*block, error) {
	params := c.params()
	q := c.log(params)
	if err := q.Check(query.KindCatalogue); err != nil { // as that of a request is
		return nil, err
	}
	found, err := operations.Datasets(c.r.Context(), c.Library, q)
	if err != nil {
		return nil, err
	}
	if found.Total == 0 && strings.TrimSpace(c.args.text("query")) != "" {
		return c.searchRecords(params.Without(query.ParamPage, query.ParamPerPage), found.Request)
	}
	b := newBlock(c.address("", params), "")
	b.Total = found.Total
	header := []string{"dataset", "title", "records", "access", "version", "fields", "description"}
	_, err = b.addTable("", header, rowsOf(found.Datasets, describeListed))
	b.describeRows("datasets", found.Request, len(found.Datasets))
	return b, err
}

// describeListed returns the row of a dataset.
func describeListed(d herb.Dataset) []string {
	access := "open"
	if d.Access.NeedsKey() {
		access = "requires a key"
	}
	const most = 4 * maxCell // bytes of names that a cell may need
	names := ""
	for i, f := range d.Fields {
		if len(names) > most {
			break
		}
		if i > 0 {
			names += ", "
		}
		names += f.Name
	}
	names, _ = clipCell(names, maxCell)
	description, _ := clipCell(d.Description, maxCell)
	return []string{d.Ref.String(), d.Title, strconv.Itoa(d.Records), access, d.Version, names, description}
}

// searchRecords lists the datasets in whose records the words occur.
func (c *toolCall) searchRecords(words query.Params, pages *query.Request) (*block, error) {
	client := c.Gate.OptionalPrincipal(c.w, c.r)
	found, err := operations.Search(c.r.Context(), c.Library, query.Of(words), client, c.SearchBudget)
	if err != nil {
		return nil, err
	}
	b := newBlock(c.address("/search", words), "")
	b.Total = len(found.Datasets)
	b.partial = found.Partial
	shown := operations.PageOf(found.Datasets, pages)
	if len(shown) > 0 {
		b.note("no name or description matches; these datasets have records that match")
	}
	if found.Partial {
		b.cuts = append(b.cuts, "some datasets were not searched in time: use fewer or rarer words")
	}
	_, err = b.addTable("", []string{"dataset", "title", "matching records"},
		rowsOf(shown, func(d library.DatasetMatch) []string {
			return []string{d.Ref.String(), d.Title, strconv.Itoa(d.Total)}
		}))
	b.describeRows("datasets", pages, len(shown))
	b.head += " with " + herb.Plural(found.Total, "matching record", "matching records")
	return b, err
}
