package charts

import (
	"math/big"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/plot"
	"herbarium/internal/web/view/state"
)

// Answer is a question with its chart and the table of its values.
type Answer struct {
	Title     string
	Sentence  []Clause
	Big       string         // instead of a chart, if there are no groups
	Figures   []AnswerFigure // the same chart for wide, medium and narrow areas
	Pivot     *Pivot         // instead of a chart
	Rows      []AnswerRow
	Labels    string // heading of the labels of the rows
	Values    string // heading of their values
	Note      []string
	Unknown   string // names the series of the question that no row has; empty: none
	AllValues string // link to the table of all values; empty: the rows are all
	Thinned   string // what the chart leaves out because pixels cannot show it; empty: nothing

	data plot.Data
	kind plot.Kind
}

// AnswerFigure is a chart for areas of a class.
type AnswerFigure struct {
	plot.Figure
	Class       string // "wide", "medium" or "narrow"
	Description string // for screen readers
}

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

// The widths of charts in pixels. Pages draw each layout from its width up to that of the next: its
// texts keep their size there (chart.css). A file has a width of its own.
const (
	wideFigure   = 840
	mediumFigure = 520
	narrowFigure = 336
)

// NewAnswer returns the chart of a question.
func NewAnswer(s *state.State, q *Question, a Aggregates, paths Paths) *Answer {
	b := &answerBuilder{State: s, Question: q, Aggregates: a, paths: paths}
	out := &Answer{kind: q.Kind, Values: upperFirst(q.measureText())}
	out.Sentence = q.sentence(a)
	out.Title = titleOf(out.Sentence)
	out.Note = b.note()
	if len(q.By) == 0 {
		out.Big = q.short(a.All.Rows[0].Values[0])
		return out
	}
	if q.isScatter() {
		b.setScatter(out)
		return out
	}
	b.setSeries()
	out.Unknown, out.data = b.unknownSeries(), b.data()
	out.Labels, out.Rows = b.rows()
	if q.Kind == kindTable {
		if out.Pivot = b.pivot(); len(q.By) == 1 {
			out.Rows = nil // the same ones
		}
		return out
	}
	if len(q.By) == 2 || a.Groups.Groups > len(out.Rows) {
		out.AllValues = questionHref(s, q.with(func(q *Question) { q.Kind, q.Series, q.Split = kindTable, nil, 0 }))
	}
	if description := b.describe(out.data); description != "" {
		out.Figures = []AnswerFigure{
			{plot.Draw(q.Kind, out.data, wideFigure), "wide", description},
			{plot.Draw(q.Kind, out.data, mediumFigure), "medium", description},
			{plot.Draw(q.Kind, out.data, narrowFigure), "narrow", description},
		}
		out.Thinned = thinnedNote(q.Kind, out.Figures)
	}
	return out
}

// File returns the chart for a file with a width; its height is 0 if there is nothing to draw.
func (a *Answer) File(width float64) plot.Figure {
	if len(a.Figures) == 0 {
		return plot.Figure{}
	}
	return plot.Draw(a.kind, a.data, width)
}

// Small returns the chart as a preview.
func (a *Answer) Small() plot.Figure { return plot.Small(a.kind, a.data) }

// Fit returns the chart for an area of this size, whose texts are as large as possible. Of many
// names it has the first ones.
func (a *Answer) Fit(width, height float64) (best plot.Figure) {
	const names, enlarged = 7, 1.7
	d := a.data
	if d.Intervals && a.kind != plot.Heat || d.Scatter != nil {
		return plot.DrawIn(a.kind, d, width/enlarged, height/enlarged)
	}
	if !d.Intervals && len(d.Groups) > names {
		d.Groups = d.Groups[:names]
		d.Series = slices.Clone(d.Series)
		for i := range d.Series {
			d.Series[i].Cells = d.Series[i].Cells[:names]
		}
	}
	largest := 0.0
	for w := width; w >= narrowFigure; w *= 0.85 {
		f := plot.Draw(a.kind, d, w)
		if scale := min(width/f.Width, height/f.Height); f.Height > 0 && scale > largest {
			best, largest = f, scale
		}
	}
	return best
}

// thinnedNote says which values share a column of pixels.
func thinnedNote(kind plot.Kind, figures []AnswerFigure) string {
	switch {
	case !slices.ContainsFunc(figures, func(f AnswerFigure) bool { return f.Thinned }):
		return ""
	case kind == plot.Lines:
		return "Where several groups share a column of pixels, the line shows the first, lowest, highest and last of them. The CSV file has all."
	}
	return "Where several groups share a column of pixels, the chart shows the largest of them. The CSV file has all."
}

type answerBuilder struct {
	*state.State
	*Question
	Aggregates
	paths  Paths
	shown  []query.GroupRow // the groups of the chart
	series []shownSeries
	cells  map[[2]string]string // values by the labels of group and series; nil: no split
	fill   string               // value of other cells
}

// shownSeries is a series of the chart with its values as the API writes them.
type shownSeries struct {
	name   string
	label  string
	values []string
	other  bool
	color  int // see plot.Series
}

// mark returns what a reader learns about groups, and the link to the chart of their rows.
func (b *answerBuilder) mark(first, last, series int) plot.Mark {
	from, to := b.shown[first].By[0], b.shown[last].By[0]
	title := b.groupLabel(b.By[0], from)
	if last > first {
		title += " – " + b.groupLabel(b.By[0], to) + ", " + herb.Plural(last-first+1, "group", "groups")
	}
	switch {
	case len(b.By) == 1:
		title, series = title+": "+b.valuesText(b.series[0], first, last), -1
	case series >= 0:
		title += ", " + b.series[series].name + ": " + b.valuesText(b.series[series], first, last)
	default:
		for _, s := range b.series {
			title += "\n" + s.name + " " + b.valuesText(s, first, last)
		}
	}
	return plot.Mark{Title: title, Href: b.groupsHref(from, to, series)}
}

// valuesText returns the exact value of a group, or the lowest and the highest of several.
func (b *answerBuilder) valuesText(s shownSeries, first, last int) string {
	low, high := "", ""
	var least, most float64
	for _, v := range s.values[first : last+1] {
		n, ok := b.number(v)
		if ok && (low == "" || n < least) {
			low, least = v, n
		}
		if ok && (high == "" || n > most) {
			high, most = v, n
		}
	}
	switch {
	case first == last:
		return b.exact(s.values[first])
	case low == high:
		return b.exact(low)
	}
	return b.exact(low) + " – " + b.exact(high)
}

// data returns what the chart shows.
func (b *answerBuilder) data() plot.Data {
	d := plot.Data{
		Intervals: b.By[0].HasIntervals(), Unit: b.unit(), FromZero: b.isAdditive() || b.Question.Kind != plot.Lines, Axis: b.axis(b.By[0]), Gaps: b.Gaps, Mark: b.mark,
	}
	for _, row := range b.shown {
		g, _ := b.newGroup(b.By[0], row.By[0])
		if !d.Intervals && len(b.By) == 2 {
			g.Total = b.label(row.Values[0])
		}
		d.Groups = append(d.Groups, g)
	}
	withText := !d.Intervals && b.Question.Kind != kindTable
	for _, s := range b.series {
		one := plot.Series{Name: s.name, Other: s.other, Color: s.color, Cells: make([]plot.Cell, len(s.values))}
		for i, v := range s.values {
			c := &one.Cells[i]
			if c.Value, c.Known = b.number(v); withText {
				c.Text = b.label(v)
			}
		}
		d.Series = append(d.Series, one)
	}
	return d
}

// setSeries sets the groups and the series that the chart shows.
func (b *answerBuilder) setSeries() {
	for _, row := range b.Groups.Rows {
		if _, ok := b.newGroup(b.By[0], row.By[0]); ok {
			b.shown = append(b.shown, row)
		}
	}
	if len(b.By) == 2 {
		b.setSplit()
		return
	}
	s := shownSeries{values: make([]string, len(b.shown))}
	for i, row := range b.shown {
		s.values[i] = row.Values[0]
	}
	b.series = []shownSeries{s}
}

// setSplit sets the series of a chart with a split, and the sum of all others if the parts of a bar
// add up.
func (b *answerBuilder) setSplit() {
	b.cells = make(map[[2]string]string, len(b.Cells.Rows))
	for _, row := range b.Cells.Rows {
		b.cells[[2]string{row.By[0], row.By[1]}] = row.Values[0]
	}
	isComplete := b.Cells.Groups == len(b.Cells.Rows)
	if b.Question.Kind == kindTable && b.fillsCells(b.Aggregates) {
		b.fill = "0" // the cells of a page are those with rows
	}
	drawn := b.drawn(b.Aggregates)
	colors := b.seriesColors(drawn)
	for k, row := range drawn {
		s := shownSeries{name: b.groupLabel(b.By[1], row.By[0]), label: row.By[0], values: make([]string, len(b.shown)), color: colors[k]}
		for i, group := range b.shown {
			s.values[i] = b.cell(group, row.By[0])
		}
		b.series = append(b.series, s)
	}
	if b.Question.Kind == plot.Stacked && !b.groupsElements() && b.Aggregates.Series.Groups > len(drawn) && isComplete {
		b.series = append(b.series, b.otherSeries())
	}
}

// cell returns the value of a group and a series.
func (b *answerBuilder) cell(group query.GroupRow, series string) string {
	if b.cells == nil {
		return group.Values[0]
	}
	value, ok := b.cells[[2]string{group.By[0], series}]
	if !ok {
		return b.fill
	}
	return value
}

// otherSeries returns the sum of all series that the chart does not show.
func (b *answerBuilder) otherSeries() shownSeries {
	other := shownSeries{name: "other", other: true, values: make([]string, len(b.shown))}
	for i, group := range b.shown {
		rest, _ := new(big.Rat).SetString(group.Values[0])
		for _, s := range b.series {
			if n, ok := new(big.Rat).SetString(s.values[i]); ok && rest != nil {
				rest.Sub(rest, n)
			}
		}
		other.values[i] = decimalText(rest, group.Values[0])
	}
	return other
}

// groupsElements reports whether a row can be in several groups.
func (b *answerBuilder) groupsElements() bool {
	return slices.ContainsFunc(b.By, func(by query.By) bool { return b.Question.fields[by.Field].Type == herb.TypeList })
}

// decimalText formats a number with as many decimals as another one.
func decimalText(n *big.Rat, like string) string {
	if n == nil {
		return ""
	}
	_, fraction, _ := strings.Cut(like, ".")
	return n.FloatString(len(fraction))
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
			if r.Share = int(max(n, -n)/greatest*100 + .5); n != 0 {
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
		row := PivotRow{Link: state.Link{Label: b.groupLabel(b.By[0], group.By[0]), Href: b.groupsHref(group.By[0], group.By[0], -1)}}
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

// describe describes a chart for screen readers: its form, its extent and its extremes. The
// description is empty if there is nothing to draw.
func (b *answerBuilder) describe(d plot.Data) string {
	type position struct{ series, group int }
	var most, least *position
	value := func(p *position) float64 { return d.Series[p.series].Cells[p.group].Value }
	for i, s := range d.Series {
		for k, c := range s.Cells {
			if !c.Known || s.Other {
				continue
			}
			at := &position{i, k}
			if most == nil || c.Value > value(most) {
				most = at
			}
			if least == nil || c.Value < value(least) {
				least = at
			}
		}
	}
	if most == nil {
		return ""
	}
	text := upperFirst(kindText(b.Question.Kind)) + " of " + herb.Plural(len(d.Groups), "group", "groups")
	if len(b.By) == 2 {
		text += " and " + herb.Plural(len(d.Series), "series", "series")
	}
	title := func(p *position) string { return b.mark(p.group, p.group, p.series).Title }
	return text + ". Highest: " + title(most) + ". Lowest: " + title(least) + "."
}
