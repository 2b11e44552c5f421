package agents

import (
	"fmt"
	"strconv"
	"strings"

	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/reading"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// queryRecords lists records, as GET …/data.
func (c *toolCall) queryRecords() (*block, error) {
	a := c.args
	perPage := defaultRows
	if a.perPage != "" {
		perPage = a.perPage
	}
	params := a.conditions().
		WithValue(query.ParamSort, strings.Join(a.sort, ",")).
		WithValue(query.ParamFields, strings.Join(a.fields, ",")).
		WithValue(query.ParamPage, a.page).With(query.Param{Name: query.ParamPerPage, Value: perPage})
	view, err := c.open(params)
	if err != nil {
		return nil, err
	}
	defer view.Release()
	req, err := view.Query.Listing(view.Fields, view.Order)
	if err != nil {
		return nil, err
	}
	page, err := view.List(c.r.Context(), req)
	if err != nil {
		return nil, err
	}
	b := newBlock(c.permalink(view, "/data", params), versionOf(view))
	b.Total = page.Total
	if len(params) == 1 || page.Total == view.Records { // all records, whatever the page
		c.wholeDataset(b, view)
	}
	if b.table("", fieldNames(req.Fields())) {
		if err := c.addRecords(view, req, page, b.add); err != nil {
			return nil, err
		}
	}
	b.describeRows("rows", req, len(page.Records))
	b.cutCells(wholeCells(view))
	return b, nil
}

// wholeCells says how to get whole values.
func wholeCells(v gate.DatasetView) string {
	if len(v.PrimaryKey) == 0 {
		return "the permalink has them whole"
	}
	return "get_record has them whole"
}

// describeRows sets the numbers of the rows of a page of n rows, and says which rows are missing.
func (b *block) describeRows(rows string, req *query.Request, n int) {
	exact := herb.Count(b.Total)
	if !b.partial {
		exact += " (exact)"
	}
	meta := req.Meta(b.Total)
	switch {
	case b.Total == 0:
		b.head = "no " + rows + ": " + exact
	case n == 0:
		b.head = fmt.Sprintf("no %s on page %s, the last one is %s: %s", rows, herb.Count(meta.Page), herb.Count(meta.TotalPages), exact)
	case b.added == 0:
		b.head = fmt.Sprintf("no %s of %s fit", rows, exact)
		b.cuts = append(b.cuts, fmt.Sprintf("the first of them alone is larger than %s: name fewer %s", herb.FormatBytes(maxResult), columnsOf(rows)))
	default:
		b.From = req.Offset() + 1
		b.To = req.Offset() + b.added
		b.head = fmt.Sprintf("%s %s–%s of %s", rows, herb.Count(b.From), herb.Count(b.To), exact)
		b.describeRest(rows, req, n, meta)
	}
}

// describeRest says how to get the rows after those of a block, of which a page has n.
func (b *block) describeRest(rows string, req *query.Request, n int, meta query.Meta) {
	if b.added == n {
		if meta.HasNext {
			b.head += fmt.Sprintf(", next page %d of %s", req.Page+1, herb.Count(meta.TotalPages))
		}
		return
	}
	// The page of this length that has the first missing row may begin a few rows before it.
	page := b.To/b.added + 1
	advice := fmt.Sprintf("repeat with page %d and per_page %d", page, b.added)
	if rows != "datasets" && rows != "fields" {
		advice += ", or name fewer " + columnsOf(rows)
	}
	b.cuts = append(b.cuts, fmt.Sprintf("%s %s–%s are missing, because a result has at most %s: %s",
		rows, herb.Count(b.To+1), herb.Count(req.Offset()+n), herb.FormatBytes(maxResult), advice))
}

// columnsOf returns which argument determines the columns of rows.
func columnsOf(rows string) string {
	if rows == "groups" {
		return "measures"
	}
	return "fields"
}

// aggregate computes measures of groups, as GET …/aggregate.
func (c *toolCall) aggregate() (*block, error) {
	a := c.args
	pages, err := a.pageRequest(strconv.Itoa(maxRows))
	if err != nil {
		return nil, err
	}
	params := append(repeated(query.ParamBy, a.by), repeated(query.ParamMeasure, a.measures)...)
	params = append(params, a.conditions()...).
		WithValue(query.ParamGroupSort, strings.Join(a.sort, ",")).
		With(query.Param{Name: query.ParamTopGroups, Value: strconv.Itoa(pages.PerPage)})
	if pages.Page > 1 {
		params = params.With(query.Param{Name: query.ParamOffset, Value: strconv.Itoa(pages.Offset())})
	}
	view, err := c.open(params)
	if err != nil {
		return nil, err
	}
	defer view.Release()
	req, err := view.Query.Aggregate(view.Fields)
	if err != nil {
		return nil, err
	}
	found, err := view.Aggregate(c.r.Context(), req)
	if err != nil {
		return nil, err
	}
	b := newBlock(c.permalink(view, "/aggregate.csv", params), versionOf(view))
	b.Total = found.Groups
	meta := query.NewAggregateResponse(req, found).Meta
	if meta.ByElements {
		b.note("a record is in the groups of all elements of its list, so that groups add up to more than all records")
	}
	if len(meta.Units) > 0 {
		var units []string
		for _, m := range req.Measures[:req.Returned] {
			if unit := m.Unit(view.Fields); unit != "" {
				units = append(units, m.Name+" in "+unit)
			}
		}
		b.note("units: %s", strings.Join(units, ", "))
	}
	header, rows := req.Table(found)
	b.table("", header)
	for _, row := range rows {
		if !b.add(header, row) {
			break
		}
	}
	b.describeRows("groups", pages, len(rows))
	b.head += " over " + herb.Plural(found.Total, "record", "records") + " (exact)"
	b.cutCells("the permalink has them whole")
	return b, nil
}

// getRecord returns one record, as GET …/data/<key>, with a line for each field.
func (c *toolCall) getRecord() (*block, error) {
	params := query.Params{}.WithValue(query.ParamFields, strings.Join(c.args.fields, ","))
	view, err := c.open(params)
	if err != nil {
		return nil, err
	}
	defer view.Release()
	req, page, err := reading.FindRecord(c.r.Context(), view, c.args.key)
	if err != nil {
		return nil, err
	}
	b := newBlock(c.permalink(view, keyPath(c.args.key), params), versionOf(view))
	b.Total, b.From, b.To = 1, 1, 1
	b.head = "1 record of " + view.Ref.String()
	const longest = maxResult / 4 // so that some other fields have room, too
	b.cellLimit = longest
	b.table("", []string{"field", "value"})
	var missing []string
	err = c.addRecords(view, req, page, func(names, row []string) bool {
		for i, name := range names {
			if !b.add([]string{name, name}, []string{name, row[i]}) {
				missing = append(missing, name)
			}
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		named := len(missing)
		for named > 1 && len(strings.Join(missing[:named], ", ")) > headRoom/2 {
			named--
		}
		advice := "repeat with fields " + strings.Join(missing[:named], ", ")
		if named < len(missing) {
			advice += fmt.Sprintf(", then with the %s after them, which describe_dataset lists", herb.Count(len(missing)-named))
		}
		b.cuts = append(b.cuts, fmt.Sprintf("%s missing, because a result has at most %s: %s",
			herb.Plural(len(missing), "field is", "fields are"), herb.FormatBytes(maxResult), advice))
	}
	b.cutCells("the permalink has them whole")
	return b, nil
}
