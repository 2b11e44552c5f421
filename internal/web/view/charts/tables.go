package charts

import (
	"herbarium/internal/herb"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/plot"
	"herbarium/internal/web/view/state"
)

// AnswerRow is a row of the table beside a chart.
type AnswerRow struct {
	Label, Value, Exact, Href string
	Pad                       string // digits that end the value where the longest fraction ends
	Share                     int    // of the greatest value, in percent
	Class                     string // of the color of the bar; empty: it is not in the chart

	Toggles bool // the row is a series, and its link adds it to the chart or removes it
	Shown   bool // the series is in the chart
	Series  int  // its position there
}

// Pivot is a page of the table of all values: a row for each group, a column for each series.
type Pivot struct {
	Corner  string
	Columns []string
	Rows    []PivotRow

	From, To, Total int    // groups of the page
	Prev, Next      string // links to other pages; empty: there is none
}

// PivotRow is a row of a pivot table.
type PivotRow struct {
	state.Link
	Values []string
}

// rows returns the table beside the chart: its groups, or its series with those that are not drawn.
func (b *answerBuilder) rows() (heading string, rows []AnswerRow) {
	by, found := b.By[0], b.Groups.Rows[:min(len(b.Groups.Rows), tableRows)]
	if len(b.By) == 2 {
		by, found = b.By[1], b.listed()
	}
	greatest := 0.0
	for _, row := range found {
		if n, ok := b.number(row.Values[0]); ok {
			greatest = max(greatest, n, -n)
		}
	}
	for _, row := range found {
		r := AnswerRow{Label: b.groupLabel(by, row.By[0]), Value: b.short(row.Values[0]), Exact: b.exact(row.Values[0])}
		if n, ok := b.number(row.Values[0]); ok && greatest > 0 {
			r.Share = int(max(n, -n)/greatest*100 + .5)
			if n != 0 {
				r.Share = max(r.Share, 1) // visible
			}
		}
		if len(b.By) == 2 {
			b.seriesRow(&r, row.By[0])
		} else if r.Href = b.groupsHref(row.By[0], row.By[0], -1); row.By[0] != "" || !by.HasIntervals() {
			r.Class = plot.ClassName(1)
		}
		rows = append(rows, r)
	}
	alignDecimals(rows)
	return columns.Heading(b.Question.fields[by.Field]), rows
}

// alignDecimals pads the values of rows so that their decimal points are below each other.
func alignDecimals(rows []AnswerRow) {
	const widest = 24 // characters
	whole, places := 0, 0
	number := &herb.Field{Type: herb.TypeNumber}
	for _, r := range rows {
		if before, fraction, ok := format.SplitDecimal(number, r.Value); ok {
			whole, places = max(whole, len(before)), max(places, len(fraction))
		}
	}
	places = min(places, widest-whole)
	for i := range rows {
		if _, fraction, ok := format.SplitDecimal(number, rows[i].Value); ok {
			rows[i].Pad = format.DecimalPad(fraction, places)
		}
	}
}

// pivot returns the page of the table of all values.
func (b *answerBuilder) pivot() *Pivot {
	p := &Pivot{Corner: columns.Heading(b.Question.fields[b.By[0].Field]), Total: b.Groups.Groups}
	for _, s := range b.series {
		p.Columns = append(p.Columns, s.name)
	}
	if len(b.By) == 1 {
		p.Columns = []string{upperFirst(b.measureText())}
	}
	for _, group := range b.Groups.Rows {
		row := PivotRow{Link: state.Link{Label: b.groupLabel(b.By[0], group.By[0]),
			Href: b.groupsHref(group.By[0], group.By[0], -1)}}
		for _, s := range b.series {
			row.Values = append(row.Values, b.short(b.cell(group, s.label)))
		}
		p.Rows = append(p.Rows, row)
	}
	p.From = (b.Page-1)*pageGroups + 1
	p.To = p.From + len(p.Rows) - 1
	if b.Page > 1 {
		p.Prev = b.PageHref(b.Page - 1)
	}
	if p.To < p.Total {
		p.Next = b.PageHref(b.Page + 1)
	}
	return p
}
