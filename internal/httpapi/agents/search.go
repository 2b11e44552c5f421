package agents

import (
	"strconv"
	"strings"

	"herbarium/internal/httpapi/operations"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

// searchDatasets lists datasets, as GET /api/v1, and after them those with a part of the words. If
// none has all words, it counts the records that match, as GET /api/v1/search, and lists the
// datasets with a part of the words only if there are none.
func (c *toolCall) searchDatasets() (*block, error) {
	params := c.params()
	q := c.log(params)
	if err := q.Check(query.KindCatalogue); err != nil { // as that of a request is
		return nil, err
	}
	found, err := operations.RankDatasets(c.r.Context(), c.Library, q)
	if err != nil {
		return nil, err
	}
	if found.Complete == 0 && strings.TrimSpace(c.args.text("query")) != "" {
		b, err := c.searchRecords(params.Without(query.ParamPage, query.ParamPerPage), found.Request)
		if err != nil || b.Total > 0 || found.Total == 0 {
			return b, err
		}
	}
	b := newBlock(c.address("", params), "")
	b.Total, b.partial = found.Total, found.IsCut
	header := []string{"dataset", "title", "records", "access", "version", "fields", "description"}
	row := describeListed
	if found.Complete < found.Total {
		b.note("%s all words; the others have some, which the last column names; the address lists those with all",
			herb.Plural(found.Complete, "dataset has", "datasets have"))
		header = append(header, "words")
		row = func(d herb.Dataset) []string {
			return append(describeListed(d), strings.Join(found.Words[d.Ref], " "))
		}
	}
	_, err = b.addTable("", header, rowsOf(found.Datasets, row))
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
