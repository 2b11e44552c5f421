package charts

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/plot"
)

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
	m := plot.Mark{Group: b.groupLabel(b.By[0], from)}
	if last > first {
		m.Group += " – " + b.groupLabel(b.By[0], to) + ", " + herb.Plural(last-first+1, "group", "groups")
	}
	switch {
	case len(b.By) == 1:
		series = -1
		m.Values = []string{b.valuesText(b.series[0], first, last)}
		m.Title = m.Group + ": " + m.Values[0]
	case series >= 0:
		m.Values = []string{b.valuesText(b.series[series], first, last)}
		m.Title = m.Group + ", " + b.series[series].name + ": " + m.Values[0]
	default:
		m.Title = m.Group
		for _, s := range b.series {
			m.Values = append(m.Values, b.valuesText(s, first, last))
			m.Title += "\n" + s.name + " " + m.Values[len(m.Values)-1]
		}
	}
	if len(b.By) == 2 && len(b.series) == 1 { // no key names it
		m.Group += ", " + b.series[0].name
	}
	m.Href = b.groupsHref(from, to, series)
	return m
}

// valuesText returns the exact value of a group, or the lowest and the highest of several.
func (b *answerBuilder) valuesText(s shownSeries, first, last int) string {
	value := func(v string) float64 { n, _ := b.number(v); return n }
	compare := func(v, o string) int { return cmp.Compare(value(v), value(o)) }
	hasNoNumber := func(v string) bool { _, ok := b.number(v); return !ok }
	known := slices.DeleteFunc(slices.Clone(s.values[first:last+1]), hasNoNumber)
	if first == last || len(known) == 0 {
		return b.exact(s.values[first])
	}
	low, high := slices.MinFunc(known, compare), slices.MaxFunc(known, compare)
	if low == high {
		return b.exact(low)
	}
	return b.exact(low) + " – " + b.exact(high)
}

// data returns what the chart shows.
func (b *answerBuilder) data() plot.Data {
	d := plot.Data{
		Intervals: b.By[0].HasIntervals(), Unit: b.unit(), FromZero: b.isAdditive() || b.Question.Kind != plot.Lines,
		Axis: b.axis(b.By[0]), Gaps: b.Gaps, Mark: b.mark,
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
			c.Value, c.Known = b.number(v)
			if withText {
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
		s := shownSeries{name: b.groupLabel(b.By[1], row.By[0]), label: row.By[0], values: make([]string, len(b.shown)),
			color: colors[k]}
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
	return slices.ContainsFunc(b.By,
		func(by query.By) bool { return b.Question.fields[by.Field].Type == herb.TypeList })
}

// decimalText formats a number with as many decimals as another one.
func decimalText(n *big.Rat, like string) string {
	if n == nil {
		return ""
	}
	_, fraction, _ := strings.Cut(like, ".")
	return n.FloatString(len(fraction))
}
