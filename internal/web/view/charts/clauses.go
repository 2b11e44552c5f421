package charts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/plot"
	"herbarium/internal/web/view/state"
)

// sentenceBuilder writes the clauses of the sentence of a question.
type sentenceBuilder struct {
	*Question
	clauses []Clause
}

// append adds a clause. Its control shows the text of the sentence; if none of the choices is the
// current one, the text is a choice that changes nothing.
func (b *sentenceBuilder) append(c Clause) {
	i := slices.IndexFunc(c.Choices, func(o Choice) bool { return o.Current })
	if i < 0 && len(c.Choices) > 0 {
		i, c.Choices = 0, slices.Insert(c.Choices, 0, Choice{Current: true})
	}
	if i >= 0 {
		c.Choices[i].Label = c.Text
	}
	b.clauses = append(b.clauses, c)
}

// longestColumn is the length of the title of a column that is not the current one, in characters.
const longestColumn = 80

// offer adds a choice for each suitable column.
func (b *sentenceBuilder) offer(c *Clause, current int, isSuitable func(i int) bool, change func(q *Question, i int)) {
	for i, f := range b.fields {
		if isSuitable(i) {
			c.add(f.Name, herb.Clip(format.PlainText(columns.Heading(f)), longestColumn), i == current,
				func(q *Question) { change(q, i) })
		}
	}
	c.Columns = len(c.Choices) > state.MaxOffered
}

// measure adds the kind of the measure and its columns.
func (b *sentenceBuilder) measure() {
	m := b.Measure
	c := Clause{Name: "measure", Label: "Measure", Before: "The ", Text: kindWord(m)}
	if m.Kind == query.MeasureCount && len(b.By) > 0 {
		c.Before, c.Text = "", "Rows"
	}
	c.add(string(query.MeasureCount), "number of rows", m.Kind == query.MeasureCount,
		func(q *Question) { q.Measure, q.Columns = countRows(), nil })
	for _, of := range chartMeasures {
		if next, ok := b.measureOf(of.kind, of.percent); ok {
			value, _, _ := strings.Cut(next.Name, ":")
			isCurrent := m.Kind == of.kind && m.Percent == of.percent
			c.add(value, of.text, isCurrent, func(q *Question) { q.measureAlike(next) })
		}
	}
	b.append(c)
	if m.Field < 0 {
		return
	}
	f := Clause{Name: "field", Label: "Column of the measure", Before: " of ", Text: b.columnsText()}
	current := m.Field
	if b.isWide() {
		current = -1
	}
	canMeasure := func(i int) bool {
		_, ok := b.newMeasure(m.Kind, m.Percent, i)
		return ok && canDraw(m.Kind, &b.fields[i])
	}
	b.offer(&f, current, canMeasure, func(q *Question, i int) {
		q.Measure, _ = b.newMeasure(m.Kind, m.Percent, i)
		q.Columns = nil
	})
	b.append(f)
	if m.Kind == query.MeasureRatio {
		d := Clause{Name: "divisor", Label: "Divided by", Before: " to ", Text: columns.Heading(b.fields[m.Divisor])}
		canDivide := func(i int) bool { return b.canDivide(m.Field, i) }
		b.offer(&d, m.Divisor, canDivide, func(q *Question, i int) { q.Measure = b.newRatio(m.Field, i) })
		b.append(d)
	}
}

// measureOf returns a kind of measure of the column of the question if it has one, else of the
// first number, else of the first column that has one.
func (b *sentenceBuilder) measureOf(k query.MeasureKind, percent int) (m query.Measure, ok bool) {
	isNumber := func(i int) bool { return b.data.Meanings[i].Kind == columns.KindNumber }
	best := -1
	for i := range b.fields {
		switch {
		case !canDraw(k, &b.fields[i]):
		case i == b.Measure.Field:
			return b.newMeasure(k, percent, i)
		case best < 0 || isNumber(i) && !isNumber(best):
			best = i
		}
	}
	if best < 0 {
		return m, false
	}
	return b.newMeasure(k, percent, best)
}

// newMeasure returns a measure of a field. A ratio keeps its divisor, or gets the next field that
// can be one; ok is false if there is none.
func (b *sentenceBuilder) newMeasure(k query.MeasureKind, percent, field int) (m query.Measure, ok bool) {
	name := string(k)
	switch k {
	case query.MeasurePercentile:
		name += strconv.Itoa(percent)
	case query.MeasureRatio:
		if b.Measure.Kind == k && b.canDivide(field, b.Measure.Divisor) {
			return b.newRatio(field, b.Measure.Divisor), true
		}
		for i := range b.fields {
			if other := (field + 1 + i) % len(b.fields); b.canDivide(field, other) {
				return b.newRatio(field, other), true
			}
		}
		return m, false
	}
	return query.Measure{Name: name + ":" + b.fields[field].Name, Kind: k, Field: field, Percent: percent}, true
}

// canDivide reports whether a chart offers the ratio of a field to another one.
func (b *sentenceBuilder) canDivide(field, divisor int) bool {
	return field != divisor && b.fields[field].Type == b.fields[divisor].Type &&
		canDraw(query.MeasureRatio, &b.fields[divisor])
}

func (b *sentenceBuilder) newRatio(field, divisor int) query.Measure {
	name := string(query.MeasureRatio) + ":" + b.fields[field].Name + "/" + b.fields[divisor].Name
	return query.Measure{Name: name, Kind: query.MeasureRatio, Field: field, Divisor: divisor}
}

// by adds the field of the groups, or of the split.
func (b *sentenceBuilder) by(at int) {
	by := b.By
	if b.isWide() && at == len(by)-1 {
		return
	}
	c := Clause{Name: []string{"by", "split"}[at], Label: []string{"Group by", "Split by"}[at],
		Before: []string{" by ", ", split by "}[at]}
	uses := func(at, i int) bool { return at < len(by) && by[at].Field == i }
	current := -1
	if at < len(by) {
		current = by[at].Field
		c.Text = columns.Heading(b.fields[current])
		c.add("", []string{"No groups", "No split"}[at], false, func(q *Question) { q.By = q.By[:at] })
	} else {
		c.Before, c.Text, c.Quiet = " ", []string{"+ group", "+ split"}[at], true
		c.add("", c.Text, true, nil)
	}
	isSuitable := func(i int) bool { return b.fields[i].Filterable && (at < len(by) || !uses(0, i)) }
	b.offer(&c, current, isSuitable, func(q *Question, i int) {
		switch {
		case uses(1-at, i): // exchange them
			q.By[0], q.By[1] = q.By[1], q.By[0]
		case at < len(by):
			q.By[at] = byOf(b.data, i)
		default:
			q.By = append(q.By, byOf(b.data, i))
		}
	})
	if len(c.Choices) > 1 {
		b.append(c)
	}
}

// interval adds the length of the intervals of a field.
func (b *sentenceBuilder) interval(at int) {
	by := b.By[at]
	f := &b.fields[by.Field]
	c := Clause{Name: []string{"interval", "interval2"}[at], Label: []string{"Interval", "Interval of the split"}[at],
		Before: " per ", Text: "value"}
	isEachYear := func(by query.By) bool { return b.data.Meanings[by.Field].IsYear && by.Width == "1" && !by.Log }
	set := func(label, interval string, next query.By) {
		next.Field, next.Name = by.Field, f.Name
		if interval != "" {
			next.Name += ":" + interval
		}
		isCurrent := next.Grain == by.Grain && next.Width == by.Width && next.Log == by.Log
		c.add(cmp.Or(interval, "each"), label, isCurrent, func(q *Question) { q.By[at] = next })
	}
	switch grains := query.Grains(f); {
	case len(grains) > 0:
		for _, g := range grains {
			set(grainText(g), string(g), query.By{Grain: g})
		}
		if by.Grain != "" {
			c.Text = grainText(by.Grain)
		}
	case len(f.Categories) > 0 && by.Width == "":
		return
	case f.Type == herb.TypeNumber || f.Type == herb.TypeDuration:
		for _, width := range b.widths(by) {
			label := "steps of " + widthText(f, width)
			if isEachYear(query.By{Field: by.Field, Width: width}) {
				label = "each year"
			}
			set(label, width, query.By{Width: width})
		}
		first := b.data.LogWidth(by.Field)
		if by.Log {
			first = by.Width
		}
		if first != "" && f.Type == herb.TypeNumber {
			set("logarithmic steps", "log"+first, query.By{Width: first, Log: true})
		}
		switch {
		case by.Log:
			c.Before, c.Text = " in ", "logarithmic steps"
		case isEachYear(by):
			c.Text, c.Quiet = "+ steps", true
		case by.Width != "":
			c.Before, c.Text = " in ", "steps of "+widthText(f, by.Width)
		}
	default:
		return
	}
	set("each value", "", query.By{})
	b.append(c)
}

// widths returns round widths of the buckets of a number field, with the current one.
func (b *sentenceBuilder) widths(by query.By) (widths []string) {
	for _, count := range []int{100, 50, 20, 10, 5} {
		if w := bucketWidth(&b.fields[by.Field], b.data.Meanings[by.Field].Report, count); w != "" {
			widths = append(widths, w)
		}
	}
	if len(widths) == 0 {
		widths = []string{"1", "10", "100", "1000"}
	}
	if by.Width != "" && !by.Log {
		widths = append(widths, by.Width)
	}
	value := func(s string) float64 { n, _ := strconv.ParseFloat(s, 64); return n } // infinite if it is too large
	slices.SortFunc(widths, func(a, b string) int { return cmp.Compare(value(a), value(b)) })
	return slices.Compact(widths)
}

// top adds how many of the groups are shown, and in which order.
func (b *sentenceBuilder) top(groups int) {
	if b.By[0].HasIntervals() || groups == 0 {
		return
	}
	isAll := func(top int) bool { return top >= groups || b.Kind == kindTable }
	c := Clause{Name: "top", Label: "Groups", Before: ", the "}
	if isAll(b.Top) {
		c.Before, c.Quiet = ", ", b.Order == orderLargest
	}
	tops := []int{10, defaultTop, 50, maxTop, b.Top}
	slices.Sort(tops)
	for _, o := range []struct {
		order     order
		some, all string
	}{{orderLargest, " largest", "largest first"}, {orderSmallest, " smallest", "smallest first"},
		{orderLabel, " first", "in order"}} {
		for _, top := range slices.Compact(slices.Clone(tops)) {
			if isAll(top) && top != b.Top { // one choice of all groups is enough
				continue
			}
			label := strconv.Itoa(top) + o.some
			if isAll(top) {
				label = o.all
			}
			isCurrent := o.order == b.Order && top == b.Top
			if isCurrent {
				c.Text = label
			}
			c.add(string(o.order)+strconv.Itoa(top), label, isCurrent,
				func(q *Question) { q.Order, q.Top = o.order, top })
		}
	}
	b.append(c)
}

// series adds how many series are shown, or which ones.
func (b *sentenceBuilder) series(found int) {
	if found <= 1 && len(b.Series) == 0 || b.isWide() {
		return
	}
	shown := b.Question.series()
	usual, most := b.seriesLimits()
	c := Clause{Name: "series", Label: "Series", Before: ", the ", Text: strconv.Itoa(shown) + " largest",
		Quiet: shown >= found}
	switch {
	case c.Quiet:
		c.Before, c.Text = ", ", "all "+strconv.Itoa(found)
	case shown == 1:
		c.Text = "largest"
	}
	if len(b.Series) > 0 {
		names := make([]string, len(b.Series))
		for i, label := range b.Series {
			names[i] = b.groupLabel(b.By[1], label)
		}
		const longest = 80
		c.Before, c.Text, c.Quiet = ": ", herb.Clip(strings.Join(names, ", "), longest), false
	}
	numbers := []int{2, 3, 4, 6, 8, 12, heatRows, shown, usual}
	slices.Sort(numbers)
	for _, n := range slices.Compact(numbers) {
		if n <= most {
			isCurrent := n == shown && len(b.Series) == 0
			c.add(strconv.Itoa(n), strconv.Itoa(n)+" largest", isCurrent,
				func(q *Question) { q.Split, q.Series = n, nil })
		}
	}
	b.append(c)
}

// kind adds the form of the chart.
func (b *sentenceBuilder) kind() {
	kinds := b.kinds()
	if len(kinds) < 3 && b.Kind != kindTable { // the table beside the chart has a link to that of all values
		return
	}
	c := Clause{Name: "kind", Label: "Form", Before: " as ", Text: kindText(b.Kind)}
	for _, k := range kinds {
		if k == plot.ScatterPlot {
			continue // it follows
		}
		set := func(gaps bool) func(*Question) {
			return func(q *Question) {
				if b.isScatter() {
					q.By[0], q.By[1] = byOf(b.data, q.By[0].Field), byOf(b.data, q.By[1].Field)
				}
				q.Kind, q.Gaps = k, gaps
			}
		}
		c.add(string(k), kindText(k), k == b.Kind && !b.Gaps, set(false))
		if k == plot.Lines && !b.isCount() {
			c.add("gaps", gapsText, b.Gaps, set(true))
		}
	}
	if b.with(b.drawScatter).isScatter() {
		c.add(string(plot.ScatterPlot), kindText(plot.ScatterPlot), b.isScatter(), b.drawScatter)
	}
	if b.Gaps {
		c.Text = gapsText
	}
	b.append(c)
}

// drawScatter changes a chart of one number by another to their scatter plot.
func (b *sentenceBuilder) drawScatter(q *Question) {
	if len(q.By) == 1 && q.Measure.Field >= 0 {
		q.By = append(q.By, eachValue(&b.fields[q.Measure.Field], q.Measure.Field))
		q.Measure = countRows()
	}
	for i, by := range q.By {
		q.By[i] = eachValue(&b.fields[by.Field], by.Field)
	}
	q.Kind = plot.ScatterPlot
}

// axis adds an axis of a scatter plot.
func (b *sentenceBuilder) axis(at int, name, before string) {
	field := b.By[at].Field
	c := Clause{Name: name, Label: []string{"Axis from left to right", "Axis from bottom to top"}[at], Before: before,
		Text: columns.Heading(b.fields[field])}
	b.offer(&c, field, func(i int) bool { return isScatterAxis(&b.fields[i]) }, func(q *Question, i int) {
		if q.By[1-at].Field == i {
			q.By[0], q.By[1] = q.By[1], q.By[0]
			return
		}
		q.By[at] = eachValue(&b.fields[i], i)
	})
	b.append(c)
}

func countRows() query.Measure {
	return query.Measure{Name: string(query.MeasureCount), Kind: query.MeasureCount, Field: -1}
}
