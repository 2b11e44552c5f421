package charts

import (
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/plot"
)

// A question with several measures shows columns of a wide table: they are the series, or without
// groups the groups of a line. Both are the values of a field of the question that no record has:
// the names of the columns.

// fewestOfLine is the number of columns that are a line rather than bars.
const fewestOfLine = 5

// isWide reports whether the question shows several columns.
func (q *Question) isWide() bool { return len(q.Columns) > 1 }

// isColumns reports whether groups are the columns of a wide question.
func (q *Question) isColumns(b query.By) bool { return b.Field == len(q.data.Fields) }

// setColumns makes the measured columns of a wide question its split, or without groups its groups.
// Questions with other measures or more groups are not wide.
func (q *Question) setColumns(measures []query.Measure) error {
	q.By = slices.DeleteFunc(q.By, q.isColumns)
	q.fields, q.Columns = q.data.Fields, nil
	if len(measures) < 2 {
		return nil
	}
	for _, m := range measures {
		if m.Kind != measures[0].Kind || m.Field < 0 || m.Kind == query.MeasureRatio ||
			!canDraw(m.Kind, &q.fields[m.Field]) {
			return herb.Invalidf("a chart shows %q and %q together only if they are the same measure of two columns",
				measures[0].Name, m.Name)
		}
	}
	if len(q.By) > 1 {
		return herb.Invalidf("%q is given %d times; a chart of two fields shows one measure", query.ParamMeasure,
			len(measures))
	}
	by := query.By{Field: len(q.fields)}
	if len(q.By) == 0 {
		by.Width = "1"
	}
	q.fields = append(slices.Clone(q.fields), herb.Field{Name: "column", Title: "Column", Type: herb.TypeText})
	q.By, q.Columns = append(q.By, by), measures
	return nil
}

// measures returns the measures of the question.
func (q *Question) measures() []query.Measure {
	if q.isWide() {
		return q.Columns
	}
	return []query.Measure{q.Measure}
}

// measureAlike changes the measure, and the kind of those of other columns.
func (q *Question) measureAlike(m query.Measure) {
	q.Measure = m
	if m.Kind == query.MeasureRatio {
		q.Columns = nil
	}
	q.Columns = slices.Clone(q.Columns)
	for i, c := range q.Columns {
		name := strings.TrimSuffix(m.Name, q.fields[m.Field].Name) + q.fields[c.Field].Name
		q.Columns[i] = query.Measure{Name: name, Kind: m.Kind, Field: c.Field, Percent: m.Percent}
	}
}

// columnsText names the columns of the measure: the first and the last if they are groups.
func (q *Question) columnsText() string {
	heading := func(m query.Measure) string { return columns.Heading(q.fields[m.Field]) }
	if !q.isWide() {
		return heading(q.Measure)
	}
	if len(q.By) == 1 {
		return heading(q.Columns[0]) + " – " + heading(q.Columns[len(q.Columns)-1])
	}
	text := heading(q.Columns[0])
	for _, m := range q.Columns[1:] {
		text += ", " + heading(m)
	}
	return herb.Clip(text, longestColumn)
}

// columnOf returns the position of the column with a label, which is its name.
func (q *Question) columnOf(label string) int {
	return slices.IndexFunc(q.Columns, func(m query.Measure) bool { return q.fields[m.Field].Name == label })
}

// columnText returns the heading of the column with a label.
func (q *Question) columnText(label string) string {
	return format.PlainText(columns.Heading(q.fields[q.Columns[q.columnOf(label)].Field]))
}

// runWide computes the aggregates of a wide question: those of its groups have all columns.
func (q *Question) runWide(aggregate func(*query.AggregateRequest) (query.Aggregate, error)) (found Aggregates,
	err error) {
	measure := func(by []query.By, sort []query.GroupSort, top int) (query.Aggregate, error) {
		r := q.request(by, sort, top)
		r.Measures, r.Returned = q.Columns, len(q.Columns)
		return aggregate(r)
	}
	found.All, err = measure(nil, nil, 1)
	if err != nil {
		return found, err
	}
	of := func(values []string) (a query.Aggregate) {
		for i, m := range q.Columns {
			a.Rows = append(a.Rows, query.GroupRow{By: []string{q.fields[m.Field].Name}, Values: values[i : i+1]})
		}
		a.Groups = len(a.Rows)
		return a
	}
	if len(q.By) == 1 {
		found.Groups = of(found.All.Rows[0].Values)
		return found, nil
	}
	groups := q.GroupsRequest(false)
	rows, err := measure(q.By[:1], groups.Sort, groups.Top)
	if q.By[0].HasIntervals() {
		slices.Reverse(rows.Rows)
	}
	found.Groups, found.Series = rows, of(found.All.Rows[0].Values)
	for _, row := range rows.Rows {
		for _, cell := range of(row.Values).Rows {
			cell.By = []string{row.By[0], cell.By[0]}
			found.Cells.Rows = append(found.Cells.Rows, cell)
		}
	}
	found.Cells.Groups = len(found.Cells.Rows)
	return found, err
}

// wideKinds returns the forms that suit a wide question, the best first.
func (q *Question) wideKinds() []plot.Kind {
	switch {
	case len(q.By) == 1 && len(q.Columns) < fewestOfLine:
		return []plot.Kind{plot.Bars, plot.Lines}
	case len(q.By) == 1:
		return []plot.Kind{plot.Lines, plot.Bars}
	case q.isTime(q.By[0]):
		return []plot.Kind{plot.Lines, plot.Grouped, plot.Heat}
	}
	return []plot.Kind{plot.Grouped, plot.Heat}
}
