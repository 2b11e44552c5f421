package charts

import (
	"cmp"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
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
		out.Pivot = b.pivot()
		if len(q.By) == 1 {
			out.Rows = nil // the same ones
		}
		return out
	}
	if !q.isWide() && (len(q.By) == 2 || a.Groups.Groups > len(out.Rows)) {
		out.AllValues = questionHref(s, q.with(func(q *Question) { q.Kind, q.Series, q.Split = kindTable, nil, 0 }))
	}
	if description := b.describe(out.data); description != "" {
		out.draw(description)
		if slices.ContainsFunc(out.Figures, func(f AnswerFigure) bool { return f.Thinned }) {
			out.Thinned = thinnedNote
		}
	}
	return out
}

// draw draws the chart for the areas of pages.
func (a *Answer) draw(description string) {
	a.Figures = []AnswerFigure{
		{plot.Draw(a.kind, a.data, wideFigure), "wide", description},
		{plot.Draw(a.kind, a.data, mediumFigure), "medium", description},
		{plot.Draw(a.kind, a.data, narrowFigure), "narrow", description},
	}
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
const thinnedNote = "Where several groups share a column of pixels, the chart shows the lowest and the highest of " +
	"them. The CSV file has all."

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

// describe describes a chart for screen readers: its form, its extent and its extremes. The
// description is empty if there is nothing to draw.
func (b *answerBuilder) describe(d plot.Data) string {
	type position struct{ series, group int }
	var all []position
	for i, s := range d.Series {
		for k, c := range s.Cells {
			if c.Known && !s.Other {
				all = append(all, position{i, k})
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	compare := func(a, b position) int {
		return cmp.Compare(d.Series[a.series].Cells[a.group].Value, d.Series[b.series].Cells[b.group].Value)
	}
	most, least := slices.MaxFunc(all, compare), slices.MinFunc(all, compare)
	text := upperFirst(kindText(b.Question.Kind)) + " of " + herb.Plural(len(d.Groups), "group", "groups")
	if len(b.By) == 2 {
		text += " and " + herb.Plural(len(d.Series), "series", "series")
	}
	title := func(p position) string { return b.mark(p.group, p.group, p.series).Title }
	return text + ". Highest: " + title(most) + ". Lowest: " + title(least) + "."
}
