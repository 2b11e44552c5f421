package agents

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
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
		if found.Total == 0 {
			err = c.suggest(b, view, req, "/data", params)
			if err != nil {
				return err
			}
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
		if found.Total == 0 {
			err = c.suggest(b, view, req.Request, "/aggregate.csv", params)
			if err != nil {
				return err
			}
		}
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

// suggest notes what a call without records may mean. path and params are those of its permalink.
func (c *toolCall) suggest(
	b *block, view gate.DatasetView, req *query.Request, path string, params query.Params,
) error {
	params = params.Without(query.ParamPage)
	found, err := operations.Suggest(c.r.Context(), &view.View, req, params)
	for _, s := range found {
		b.Suggestions = append(b.Suggestions, s.Response(func(params query.Params) string {
			return c.permalink(view, path, params)
		}))
		var meant []string
		for _, given := range slices.Sorted(maps.Keys(s.Corrections)) {
			meant = append(meant, fmt.Sprintf("%q instead of %q", herb.Clip(s.Corrections[given], maxTopValue),
				herb.Clip(given, maxTopValue)))
		}
		alone := ""
		if len(s.Params) < len(params) {
			alone = " without other conditions"
		}
		b.note("did you mean %s%s? %s: %s", strings.Join(meant, ", "), alone,
			herb.Plural(s.Total, "record", "records"), b.Suggestions[len(b.Suggestions)-1].URL)
	}
	return err
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
