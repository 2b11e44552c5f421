package charts

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/plot"
	"herbarium/internal/web/view/state"
)

// Answer is a question with its chart and the table of its values.
type Answer struct {
	Title     string
	Words     []Word
	Big       string         // instead of a chart, if there are no groups
	Figures   []AnswerFigure // the same chart for large screens and for phones
	Pivot     *Pivot         // instead of a chart
	Rows      []AnswerRow
	Labels    string // heading of the labels of the rows
	Values    string // heading of their values
	Note      []string
	AllValues string // link to the table of all values; empty: the rows are all

	data plot.Data
	kind plot.Kind
}

// AnswerFigure is a chart for screens of a class.
type AnswerFigure struct {
	plot.Figure
	Class       string // "wide" or "narrow"
	Description string // for screen readers
}

// AnswerRow is a row of the table beside a chart.
type AnswerRow struct {
	Label, Value, Exact, Href string
	Share                     int    // of the greatest value, in percent
	Class                     string // of the color of the bar; empty: it is not in the chart
}

// Pivot is the table of the values of a chart with a split.
type Pivot struct {
	Corner  string
	Columns []string
	Rows    []PivotRow
}

// PivotRow is a row of a pivot table.
type PivotRow struct {
	state.Link
	Values []string
}

// The widths of charts in pixels: on large screens, and on phones.
const (
	wideFigure   = 1000
	narrowFigure = 372
)

// NewAnswer returns the chart of a question. tablePath is the path of the table that parts of the
// chart lead to.
func NewAnswer(s *state.State, q *Question, a Aggregates, tablePath string) *Answer {
	b := &answerBuilder{State: s, Question: q, Aggregates: a, path: tablePath}
	out := &Answer{kind: q.Kind, Values: upperFirst(q.measureText())}
	out.Words = q.sentence(s, a)
	out.Title = titleOf(out.Words)
	out.Note = b.note()
	if len(q.By) == 0 {
		out.Big = q.short(a.All.Rows[0].Values[0])
		return out
	}
	out.data = b.data()
	out.Labels, out.Rows = b.rows()
	if len(q.By) == 2 {
		out.AllValues = questionHref(s, q.with(func(q *Question) { q.Kind = kindTable }))
	}
	if q.Kind == kindTable {
		out.Pivot = b.pivot(out.data)
		out.AllValues = ""
		return out
	}
	if description := describeData(q, out.data); description != "" {
		out.Figures = []AnswerFigure{
			{plot.Draw(q.Kind, out.data, wideFigure), "wide", description}, {plot.Draw(q.Kind, out.data, narrowFigure), "narrow", description},
		}
	}
	return out
}

// Small returns the chart as a preview.
func (a *Answer) Small() plot.Figure { return plot.Small(a.kind, a.data) }

// Fit returns the chart for an area of this size, whose texts are as large as possible. Of many
// names it has the first ones.
func (a *Answer) Fit(width, height float64) (best plot.Figure) {
	const names, enlarged = 7, 1.7
	d := a.data
	if d.Intervals && a.kind != plot.Heat {
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

type answerBuilder struct {
	*state.State
	*Question
	Aggregates
	path string
}

func (b *answerBuilder) href(by []query.By, labels ...string) string {
	ps := b.AnyPage()
	for i, label := range labels {
		ps = filterGroup(b.State, ps, b.Question, by[i], label)
	}
	return state.Join(b.path, ps.WithValue(query.ParamVersion, b.State.Version).Encode())
}

// newCell returns the value of a group, with what a reader learns about it.
func (b *answerBuilder) newCell(title, value, href string) plot.Cell {
	n, known := b.number(value)
	return plot.Cell{Value: n, Known: known, Text: b.short(value), Mark: plot.Mark{Title: title + ": " + b.exact(value), Href: href}}
}

// data returns what the chart shows.
func (b *answerBuilder) data() plot.Data {
	d := plot.Data{Intervals: b.By[0].HasIntervals(), Unit: b.unit(), FromZero: b.isAdditive() || b.Question.Kind != plot.Lines}
	var shown []query.GroupRow
	for _, row := range b.Groups.Rows {
		if g, ok := b.newGroup(b.By[0], row.By[0]); ok {
			d.Groups, shown = append(d.Groups, g), append(shown, row)
		}
	}
	if len(b.By) == 1 {
		cells := make([]plot.Cell, len(shown))
		for i, row := range shown {
			cells[i] = b.newCell(b.groupLabel(b.By[0], row.By[0]), row.Values[0], b.href(b.By[:1], row.By[0]))
			d.Groups[i].Mark = cells[i].Mark
		}
		d.Series = []plot.Series{{Cells: cells}}
		return d
	}
	b.addSeries(&d, shown)
	return d
}

// addSeries adds the largest series, and the sum of all others if the parts of a bar add up.
func (b *answerBuilder) addSeries(d *plot.Data, shown []query.GroupRow) {
	values := map[[2]string]string{}
	for _, row := range b.Cells.Rows {
		values[[2]string{row.By[0], row.By[1]}] = row.Values[0]
	}
	series := b.Series.Rows[:min(len(b.Series.Rows), b.series())]
	rest := make([]*big.Rat, len(shown))
	for i, row := range shown {
		rest[i], _ = new(big.Rat).SetString(row.Values[0])
	}
	fill := ""
	if b.isAdditive() && b.Cells.Groups == len(b.Cells.Rows) {
		fill = "0" // a group without rows
	}
	lines := make([][]string, len(shown)) // of the titles of groups
	for _, row := range series {
		name := b.groupLabel(b.By[1], row.By[0])
		cells := make([]plot.Cell, len(shown))
		for i, group := range shown {
			value, ok := values[[2]string{group.By[0], row.By[0]}]
			if !ok {
				value = fill
			}
			title := b.groupLabel(b.By[0], group.By[0]) + ", " + name
			cells[i] = b.newCell(title, value, b.href(b.By, group.By[0], row.By[0]))
			lines[i] = append(lines[i], name+" "+b.exact(value))
			if n, ok := new(big.Rat).SetString(value); ok && rest[i] != nil {
				rest[i].Sub(rest[i], n)
			}
		}
		d.Series = append(d.Series, plot.Series{Name: name, Cells: cells})
	}
	for i, group := range shown {
		d.Groups[i].Total = b.short(group.Values[0])
		d.Groups[i].Title = b.groupLabel(b.By[0], group.By[0]) + "\n" + strings.Join(lines[i], "\n")
		d.Groups[i].Href = b.href(b.By[:1], group.By[0])
	}
	isComplete := b.Cells.Groups == len(b.Cells.Rows)
	if b.Question.Kind != plot.Stacked || b.groupsElements() || b.Series.Groups <= len(series) || !isComplete {
		return
	}
	other := plot.Series{Name: "other", Other: true}
	for i, group := range shown {
		cell := b.newCell(b.groupLabel(b.By[0], group.By[0])+", other", decimalText(rest[i], group.Values[0]), d.Groups[i].Href)
		other.Cells = append(other.Cells, cell)
		d.Groups[i].Title += "\nother " + cell.Text
	}
	d.Series = append(d.Series, other)
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
	by, found, drawn := b.By[0], b.Groups.Rows, len(b.Groups.Rows)
	if len(b.By) == 2 {
		by, found, drawn = b.By[1], b.Series.Rows, b.series()
	}
	greatest := 0.0
	for _, row := range found {
		if n, ok := b.number(row.Values[0]); ok {
			greatest = max(greatest, n, -n)
		}
	}
	for i, row := range found {
		r := AnswerRow{Label: b.groupLabel(by, row.By[0]), Value: b.short(row.Values[0]), Exact: b.exact(row.Values[0])}
		r.Href = b.href([]query.By{by}, row.By[0])
		if n, ok := b.number(row.Values[0]); ok && greatest > 0 {
			if r.Share = int(max(n, -n)/greatest*100 + .5); n != 0 {
				r.Share = max(r.Share, 1) // visible
			}
		}
		switch {
		case len(b.By) == 1 && (row.By[0] != "" || !by.HasIntervals()):
			r.Class = "s1"
		case len(b.By) == 2 && i < drawn && drawn > plot.MaxSeries: // without colors
			r.Class = "s1"
		case len(b.By) == 2 && i < drawn:
			r.Class = "s" + strconv.Itoa(i%plot.MaxSeries+1)
		}
		rows = append(rows, r)
	}
	return columns.Heading(b.Question.fields[by.Field]), rows
}

func (b *answerBuilder) pivot(d plot.Data) *Pivot {
	p := &Pivot{Corner: columns.Heading(b.Question.fields[b.By[0].Field])}
	for _, s := range d.Series {
		p.Columns = append(p.Columns, s.Name)
	}
	for i, g := range d.Groups {
		label, _, _ := strings.Cut(g.Title, "\n")
		row := PivotRow{Link: state.Link{Label: label, Href: g.Href}}
		for _, s := range d.Series {
			row.Values = append(row.Values, s.Cells[i].Text)
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

// describeData describes a chart for screen readers: its form, its extent and its extremes. The
// description is empty if there is nothing to draw.
func describeData(q *Question, d plot.Data) string {
	var most, least *plot.Cell
	for i := range d.Series {
		for k := range d.Series[i].Cells {
			c := &d.Series[i].Cells[k]
			if !c.Known || d.Series[i].Other {
				continue
			}
			if most == nil || c.Value > most.Value {
				most = c
			}
			if least == nil || c.Value < least.Value {
				least = c
			}
		}
	}
	if most == nil {
		return ""
	}
	text := upperFirst(kindText(q.Kind)) + " of " + herb.Plural(len(d.Groups), "group", "groups")
	if len(q.By) == 2 {
		text += " and " + herb.Plural(len(d.Series), "series", "series")
	}
	return text + ". Highest: " + most.Title + ". Lowest: " + least.Title + "."
}
