package agents

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/operations"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/typed"
)

const (
	topValues     = 5     // of each field
	uniqueValues  = 2     // of a field whose values occur once
	maxTopValue   = 60    // characters
	maxCategories = 1_000 // distinct values of a field whose most frequent ones are counted
	sampleRecords = 3
	sampleRoom    = maxResult / 4 // bytes of a description that are left to the sample
)

// fieldFacts is what is known of the values of a field.
type fieldFacts struct {
	empty, distinct int
	min, max        string
	top             []query.ValueCount
}

// describeDataset describes a dataset: what the report of its publish knows, the most frequent
// values as GET …/facets counts them, and the first records.
func (c *toolCall) describeDataset() (*block, error) {
	pages, err := c.args.pages()
	if err != nil {
		return nil, err
	}
	return c.read("", nil, func(view gate.DatasetView, b *block) error {
		params := query.Params{}.WithValue(query.ParamFields, c.args.text("fields")).
			WithValue(query.ParamPerPage, strconv.Itoa(sampleRecords))
		sample, err := query.Of(params).Listing(view.Fields, view.Order)
		if err != nil {
			return err
		}
		selected := sample.Selected
		if selected == nil {
			for at := range view.Fields {
				selected = append(selected, at)
			}
		}
		positions := operations.PageOf(selected, pages)
		known, counted, err := c.countValues(view, positions)
		if err != nil {
			return err
		}
		types, err := view.Types()
		if err != nil {
			return err
		}
		if counted != nil {
			*b = *newBlock(c.permalink(view, "/facets", counted), b.Version)
		}
		b.Total = len(selected)
		c.describeWhole(b, view)
		b.room -= sampleRoom
		_, err = b.addTable("", []string{
			"field", "type", "machine type", "use", "empty", "distinct", "min", "max",
			"most frequent values (records)", "filter, for example", "description",
		}, rowsOf(positions, func(at int) []string { return describeField(view.Fields[at], types[at], known[at]) }))
		if err != nil {
			return err
		}
		whole := b.head
		b.describeRows("fields", pages, len(positions))
		if b.added < b.Total {
			whole += ", " + b.head
		}
		b.head = whole
		b.room += sampleRoom
		return c.addSample(b, view, sample)
	})
}

// describeWhole notes what applies to the dataset as a whole.
func (c *toolCall) describeWhole(b *block, view gate.DatasetView) {
	b.head = fmt.Sprintf("%s: %s (exact), %s", view.Ref, herb.Plural(view.Records, "record", "records"),
		herb.Plural(len(view.Fields), "field", "fields"))
	if view.Title != "" {
		b.note("title: %s", herb.Clip(view.Title, maxCell))
	}
	if view.Description != "" {
		b.note("description: %s", herb.Clip(view.Description, 2*maxCell))
	}
	if len(view.PrimaryKey) > 0 {
		b.note("primary key: %s", strings.Join(view.PrimaryKey, ", "))
	}
	c.wholeDataset(b, view)
	b.note("values are texts as the source has them; a missing value is empty; files have the machine types. " +
		"Operators of filters, as in price[gte]=10: " +
		"numbers, dates and durations take eq ne gt gte lt lte in empty; texts and lists also ieq ine " +
		"(in any case) prefix contains match (words)")
}

// countValues returns what is known of the values of fields, by position, and the parameters of the
// request that counted the most frequent ones; nil if none did.
func (c *toolCall) countValues(view gate.DatasetView, positions []int) (known map[int]fieldFacts, counted query.Params,
	err error) {
	known = map[int]fieldFacts{}
	var facets query.Params
	for _, at := range positions {
		categories := view.Report == nil || len(view.Report.Columns) != len(view.Fields)
		if !categories {
			col := view.Report.Columns[at]
			known[at] = fieldFacts{col.Empty, col.Distinct, col.Min, col.Max, nil}
			categories = col.Distinct <= maxCategories
		}
		if categories && view.Fields[at].Filterable && len(facets) < query.MaxFacetFields {
			facets = facets.With(query.Param{Name: query.ParamField, Value: view.Fields[at].Name})
		}
	}
	if len(facets) == 0 {
		return known, nil, nil
	}
	facets = facets.With(query.Param{Name: query.ParamTop, Value: strconv.Itoa(topValues)},
		query.Param{Name: query.ParamBuckets, Value: "0"})
	req, err := query.Of(facets).Facets(view.Fields)
	if err != nil { // names that are longer than a query string: the description goes without
		return known, nil, nil
	}
	found, release, err := operations.Facets(c.r.Context(), &view.View, req)
	if herb.CodeOf(err) == herb.CodeInvalid { // too many values
		return known, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer release()
	for i, f := range found.Fields {
		known[req.Fields[i]] = fieldFacts{f.Empty, f.Distinct, f.Min, f.Max, f.Values}
	}
	return known, facets, nil
}

// describeField returns the row of a field.
func describeField(f herb.Field, machine typed.Column, known fieldFacts) []string {
	var uses []string
	for use, can := range map[string]bool{"filter": f.Filterable, "sort": f.Sortable, "search": f.Searchable} {
		if can {
			uses = append(uses, use)
		}
	}
	slices.Sort(uses)
	var top []string
	if len(known.top) > 0 && known.top[0].Count == 1 {
		known.top = known.top[:min(uniqueValues, len(known.top))]
	}
	for _, v := range known.top {
		short, _ := clipCell(herb.Category{Value: v.Value, Label: v.Label}.String(), maxTopValue)
		top = append(top, fmt.Sprintf("%s (%s)", short, herb.Count(v.Count)))
	}
	categories := ""
	if len(f.Categories) > 0 {
		categories = " (" + herb.ListCategories(f.Categories) + ")"
	}
	return []string{
		f.Name, string(f.Type), strings.TrimSuffix(machine.String()+": "+machine.Reason, ": "), strings.Join(uses, " "),
		strconv.Itoa(known.empty), strconv.Itoa(known.distinct), known.min, known.max,
		strings.Join(top, ", "), exampleFilter(f, known),
		strings.TrimSpace(f.Title + categories + " " + f.Description),
	}
}

// exampleFilter returns a filter on a field that finds records, or an empty text.
func exampleFilter(f herb.Field, known fieldFacts) string {
	value := known.min
	if len(known.top) > 0 {
		value = known.top[0].Value
	}
	if value == "" || len(value) > maxTopValue || !f.Filterable {
		return ""
	}
	if query.HasRange(f.Type) && len(f.Categories) == 0 {
		return query.FilterParam(f.Name, query.OpGte) + "=" + value
	}
	return query.FilterParam(f.Name, query.OpEq) + "=" + value
}

// addSample adds the first records.
func (c *toolCall) addSample(b *block, view gate.DatasetView, sample *query.Request) error {
	found, err := operations.List(c.r.Context(), &view.View, sample)
	if err != nil {
		return err
	}
	defer found.Release()
	n := len(found.Records)
	if n == 0 {
		return nil
	}
	title := fmt.Sprintf("first %s:", herb.Plural(n, "record", "records"))
	added, err := c.addRecords(b, title, view, found)
	switch {
	case added == 0:
		b.cuts = append(b.cuts, "the first records do not fit: use query_records with fewer fields")
	case added < n:
		b.cuts = append(b.cuts, "the sample has "+herb.Plural(added, "record", "records")+
			", because more do not fit: use query_records with fewer fields")
	}
	b.cutCells(wholeCells(view))
	return err
}
