package agents

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/operations"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// queryRecords lists records, as GET …/data.
func (c *toolCall) queryRecords() (*block, error) {
	params := c.params()
	if c.args["per_page"] == nil {
		params = params.WithValue(query.ParamPerPage, defaultRows)
	}
	return c.read("/data", params, func(view gate.DatasetView, b *block) error {
		req, err := view.Query.Listing(view.Fields, view.Order)
		if err != nil {
			return err
		}
		found, err := operations.List(c.r.Context(), &view.View, req)
		if err != nil {
			return err
		}
		defer found.Release()
		b.Total = found.Total
		b.noteWords(found.Words)
		if len(params) == 1 || found.Total == view.Records { // all records, whatever the page
			c.wholeDataset(b, view)
		}
		_, err = c.addRecords(b, "", view, found)
		b.describeRows("rows", req, len(found.Records))
		b.cutCells(wholeCells(view))
		return err
	})
}

// wholeCells says how to get whole values.
func wholeCells(v gate.DatasetView) string {
	if len(v.PrimaryKey) == 0 {
		return permalinkHasCells
	}
	return "get_record has them whole"
}

const permalinkHasCells = "the permalink has them whole"

// aggregate computes measures of groups, as GET …/aggregate.
func (c *toolCall) aggregate() (*block, error) {
	pages, err := c.args.pages()
	if err != nil {
		return nil, err
	}
	params := c.params().Without(query.ParamPage, query.ParamPerPage).
		WithValue(query.ParamTopGroups, strconv.Itoa(pages.PerPage))
	if pages.Page > 1 {
		params = params.WithValue(query.ParamOffset, strconv.Itoa(pages.Offset()))
	}
	return c.read("/aggregate.csv", params, func(view gate.DatasetView, b *block) error {
		req, err := view.Query.Aggregate(view.Fields)
		if err != nil {
			return err
		}
		found, err := view.Aggregate(c.r.Context(), req)
		if err != nil {
			return err
		}
		words, err := view.Words(req.Request)
		if err != nil {
			return err
		}
		b.Total = found.Groups
		b.noteWords(words)
		if req.ByElements() {
			b.note("a record is in the groups of all elements of its list, so that groups add up to more than all " +
				"records")
		}
		var units []string
		for _, m := range req.Measures[:req.Returned] {
			if unit := m.Unit(view.Fields); unit != "" {
				units = append(units, m.Name+" in "+unit)
			}
		}
		if units != nil {
			b.note("units: %s", strings.Join(units, ", "))
		}
		_, err = b.addTable("", req.Header(), rowsOf(found.Rows, query.GroupRow.Cells))
		b.describeRows("groups", pages, len(found.Rows))
		b.head += " over " + herb.Plural(found.Total, "record", "records") + " (exact)"
		b.cutCells(permalinkHasCells)
		return err
	})
}

// getRecord returns one record, as GET …/data/<key>, with a line for each field.
func (c *toolCall) getRecord() (*block, error) {
	path := "/data"
	for _, value := range c.args["key"] {
		path += "/" + url.PathEscape(value)
	}
	return c.read(path, c.params(), func(view gate.DatasetView, b *block) error {
		found, err := operations.Record(c.r.Context(), &view.View, c.args["key"], view.Query)
		if err != nil {
			return err
		}
		defer found.Release()
		b.Total, b.From, b.To = 1, 1, 1
		b.head = "1 record of " + view.Ref.String()
		const longest = maxResult / 4 // so that some other fields have room, too
		b.cellLimit = longest
		b.startTable("", []string{"field", "value"})
		names := found.Names()
		var missing []string
		for row, err := range found.Rows(c.r.Context(), &view.View) {
			if err != nil {
				return err
			}
			for i, name := range names {
				if !b.add([]string{name, name}, []string{name, row[i]}) {
					missing = append(missing, name)
				}
			}
		}
		b.cutFields(missing)
		b.cutCells(permalinkHasCells)
		return nil
	})
}

// cutFields says in the head line which fields of a record are missing, if any.
func (b *block) cutFields(missing []string) {
	if len(missing) == 0 {
		return
	}
	named := len(missing)
	for named > 1 && len(strings.Join(missing[:named], ", ")) > headRoom/2 {
		named--
	}
	advice := "repeat with fields " + strings.Join(missing[:named], ", ")
	if named < len(missing) {
		advice += fmt.Sprintf(", then with the %s after them, which describe_dataset lists",
			herb.Count(len(missing)-named))
	}
	b.cuts = append(b.cuts, fmt.Sprintf("%s missing, because a result has at most %s: %s",
		herb.Plural(len(missing), "field is", "fields are"), herb.FormatBytes(maxResult), advice))
}
