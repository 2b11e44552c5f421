package charts

import (
	"cmp"
	"math"
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

// Word is a part of the sentence that says what a chart shows. A word with choices is a menu.
type Word struct {
	Before  string // text before the word
	Text    string
	ID      string // of the menu
	Choices []state.Link
	Fields  int  // number of fields that the menu offers; 0: others
	Partial bool // the menu does not list all of them
	Quiet   bool // the word offers an addition; it is not part of the title
}

// Finds reports whether a menu offers so many fields that a reader searches for one.
func (w *Word) Finds() bool {
	const few = 12
	return w.Fields > few
}

// chartMeasures are the kinds of measures that a chart offers, and how a sentence says them.
var chartMeasures = []struct {
	kind    query.MeasureKind
	percent int
	text    string
}{
	{query.MeasureSum, 0, "sum"}, {query.MeasureMean, 0, "mean"}, {query.MeasureMedian, 0, "median"}, {query.MeasurePercentile, 90, "90th percentile"},
	{query.MeasureMin, 0, "minimum"}, {query.MeasureMax, 0, "maximum"}, {query.MeasureStdDev, 0, "standard deviation"},
	{query.MeasureRatio, 0, "ratio"}, {query.MeasureFilled, 0, "number of values"},
	{query.MeasureDistinct, 0, "number of distinct values"},
}

// kindWord returns the measure without its field in words.
func kindWord(m query.Measure) string {
	if m.Kind == query.MeasurePercentile {
		return ordinal(m.Percent) + " percentile"
	}
	for _, c := range chartMeasures {
		if c.kind == m.Kind {
			return c.text
		}
	}
	return "number of rows"
}

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

// measureText returns the measure in words.
func (q *Question) measureText() string {
	if q.Measure.Kind == query.MeasureCount {
		return "rows"
	}
	s := kindWord(q.Measure) + " of " + columns.Heading(q.fields[q.Measure.Field])
	if q.Measure.Kind == query.MeasureRatio {
		s += " to " + columns.Heading(q.fields[q.Measure.Divisor])
	}
	return s
}

// gapsText says that lines end where intervals have no rows.
const gapsText = "lines with gaps"

func kindText(k plot.Kind) string {
	switch k {
	case plot.Stacked:
		return "stacked bars"
	case plot.Grouped:
		return "grouped bars"
	case plot.Heat:
		return "a heat map"
	case plot.ScatterPlot:
		return "a scatter plot"
	case kindTable:
		return "a table"
	}
	return string(k)
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:] // the texts begin with letters of ASCII
}

// titleOf returns a sentence as text, without the words with some names.
func titleOf(words []Word, without ...string) string {
	var b strings.Builder
	for _, w := range words {
		if !w.Quiet && !slices.Contains(without, w.ID) {
			b.WriteString(w.Before + w.Text)
		}
	}
	return format.PlainText(b.String())
}

// asksSame reports whether two questions have the same measure and groups: they differ in how the
// chart shows them at most.
func asksSame(a, b query.Params) bool {
	values := func(ps query.Params, name string) (all []string) {
		for _, p := range ps {
			if p.Name == name {
				all = append(all, p.Value)
			}
		}
		return all
	}
	isSame := func(name string) bool { return slices.Equal(values(a, name), values(b, name)) }
	return isSame(query.ParamBy) && isSame(query.ParamMeasure)
}

// questionHref returns the link to another question about the same rows.
func questionHref(s *state.State, q *Question) string {
	other := *s
	if other.Question = q.params(); !asksSame(other.Question, s.Question) {
		other.Picture.Title = "" // it is about the other question
	}
	return other.Href(s.AnyPage())
}

// sentence returns the question as a sentence with menus.
func (q *Question) sentence(s *state.State, a Aggregates) []Word {
	b := sentenceBuilder{s, q, nil}
	if q.isScatter() {
		b.scatter()
		return b.words
	}
	b.measure()
	b.by(0)
	if len(q.By) > 0 {
		b.interval(0)
		b.top(a.Groups.Groups)
		b.by(1)
		if len(q.By) > 1 {
			b.interval(1)
			b.split(a.Series.Groups)
		}
		b.kind()
	}
	if q.Zone != "" {
		b.words = append(b.words, Word{Before: ", times in ", Text: q.Zone})
	}
	slices.SortStableFunc(b.words, func(a, b Word) int { return position(a) - position(b) })
	return b.words
}

// Menus returns the sentence of the question of a state without its answer, for the fields that its
// menus offer.
func Menus(s *state.State) ([]Word, error) {
	q, err := ParseQuestion(s)
	if herb.CodeOf(err) == herb.CodeInvalid { // the page shows the default question
		s.Question = nil
		q, err = ParseQuestion(s)
	}
	if err != nil {
		return nil, err
	}
	return q.sentence(s, Aggregates{}), nil
}

// position returns the position of a word: additions follow the sentence.
func position(w Word) int {
	if w.Quiet {
		return 1
	}
	return 0
}

type sentenceBuilder struct {
	*state.State
	q     *Question
	words []Word
}

func (b *sentenceBuilder) choice(label string, current bool, change func(*Question)) state.Link {
	return state.Link{Label: label, Current: current, Href: questionHref(b.State, b.q.with(change))}
}

func (b *sentenceBuilder) measure() {
	m := b.q.Measure
	w := Word{ID: "measure", Before: "The ", Text: kindWord(m)}
	if m.Kind == query.MeasureCount && len(b.q.By) > 0 {
		w.Before, w.Text = "", "Rows"
	}
	count := countRows()
	w.Choices = append(w.Choices, b.choice("number of rows", m.Kind == query.MeasureCount, func(q *Question) { q.Measure = count }))
	for _, c := range chartMeasures {
		field := m.Field
		if field < 0 || !canDraw(c.kind, &b.Fields[field]) {
			field = b.firstField(func(i int) bool {
				return canDraw(c.kind, &b.Fields[i]) && b.Dataset.Meanings[i].Kind == columns.KindNumber
			})
		}
		if field < 0 {
			field = b.firstField(func(i int) bool { return canDraw(c.kind, &b.Fields[i]) })
		}
		if field < 0 {
			continue
		}
		next, ok := b.newMeasure(c.kind, c.percent, field)
		if !ok {
			continue
		}
		w.Choices = append(w.Choices, b.choice(c.text, next.Name == m.Name, func(q *Question) { q.Measure = next }))
	}
	b.words = append(b.words, w)
	if m.Field < 0 {
		return
	}
	f := Word{ID: "field", Before: " of ", Text: columns.Heading(b.Fields[m.Field])}
	canMeasure := func(i int) bool {
		_, ok := b.newMeasure(m.Kind, m.Percent, i)
		return ok && canDraw(m.Kind, &b.Fields[i])
	}
	b.offer(&f, canMeasure, func(i int) state.Link {
		next, _ := b.newMeasure(m.Kind, m.Percent, i)
		return b.choice("", i == m.Field, func(q *Question) { q.Measure = next })
	})
	b.words = append(b.words, f)
	if m.Kind == query.MeasureRatio {
		d := Word{ID: "divisor", Before: " to ", Text: columns.Heading(b.Fields[m.Divisor])}
		b.offer(&d, func(i int) bool { return b.canDivide(m.Field, i) }, func(i int) state.Link {
			next := b.newRatio(m.Field, i)
			return b.choice("", i == m.Divisor, func(q *Question) { q.Measure = next })
		})
		b.words = append(b.words, d)
	}
}

// newMeasure returns a measure of a field. A ratio keeps its divisor, or gets the next field that
// can be one; ok is false if there is none.
func (b *sentenceBuilder) newMeasure(k query.MeasureKind, percent, field int) (m query.Measure, ok bool) {
	name := string(k)
	switch k {
	case query.MeasurePercentile:
		name += strconv.Itoa(percent)
	case query.MeasureRatio:
		if b.q.Measure.Kind == k && b.canDivide(field, b.q.Measure.Divisor) {
			return b.newRatio(field, b.q.Measure.Divisor), true
		}
		for i := range b.Fields {
			if other := (field + 1 + i) % len(b.Fields); b.canDivide(field, other) {
				return b.newRatio(field, other), true
			}
		}
		return m, false
	}
	return query.Measure{Name: name + ":" + b.Fields[field].Name, Kind: k, Field: field, Percent: percent}, true
}

// canDivide reports whether a chart offers the ratio of a field to another one.
func (b *sentenceBuilder) canDivide(field, divisor int) bool {
	return field != divisor && b.Fields[field].Type == b.Fields[divisor].Type && canDraw(query.MeasureRatio, &b.Fields[divisor])
}

func (b *sentenceBuilder) newRatio(field, divisor int) query.Measure {
	name := string(query.MeasureRatio) + ":" + b.Fields[field].Name + "/" + b.Fields[divisor].Name
	return query.Measure{Name: name, Kind: query.MeasureRatio, Field: field, Divisor: divisor}
}

func (b *sentenceBuilder) firstField(is func(i int) bool) int {
	for i := range b.Fields {
		if is(i) {
			return i
		}
	}
	return -1
}

// offer adds links for the fields to the choices of a word: those whose names contain the text to
// find, and no more than a menu lists.
func (b *sentenceBuilder) offer(w *Word, is func(i int) bool, link func(i int) state.Link) {
	listed := 0
	for i, f := range b.Fields {
		if !is(i) {
			continue
		}
		w.Fields++
		if listed == state.MaxOffered || !b.State.Finds(i) {
			w.Partial = true
			continue
		}
		listed++
		l := link(i)
		l.Label, l.Detail = columns.Heading(f), string(f.Type)
		w.Choices = append(w.Choices, l)
	}
}

// by adds the field of the groups, or of the split.
func (b *sentenceBuilder) by(at int) {
	by := b.q.By
	w := Word{ID: []string{"by", "split"}[at], Before: []string{" by ", ", split by "}[at]}
	uses := func(at, i int) bool { return at < len(by) && by[at].Field == i }
	if at < len(by) && b.Find == "" {
		label := []string{"No groups", "No split"}[at]
		w.Choices = append(w.Choices, b.choice(label, false, func(q *Question) { q.By = q.By[:at] }))
	}
	b.offer(&w,
		func(i int) bool { return b.Fields[i].Filterable && (at < len(by) || !uses(0, i)) },
		func(i int) state.Link {
			return b.choice("", uses(at, i), func(q *Question) {
				switch {
				case uses(1-at, i): // exchange them
					q.By[0], q.By[1] = q.By[1], q.By[0]
				case at < len(by):
					q.By[at] = byOf(b.Dataset, i)
				default:
					q.By = append(q.By, byOf(b.Dataset, i))
				}
			})
		})
	if at < len(by) {
		w.Text = columns.Heading(b.Fields[by[at].Field])
	} else {
		w.Before, w.Text, w.Quiet = " ", []string{"+ group", "+ split"}[at], true
		if at == 1 && w.Fields == 0 {
			return
		}
	}
	b.words = append(b.words, w)
}

// interval adds the length of the intervals of a field.
func (b *sentenceBuilder) interval(at int) {
	by := b.q.By[at]
	f := &b.Fields[by.Field]
	w := Word{ID: []string{"interval", "interval2"}[at], Before: " per ", Text: "value"}
	isEachYear := func(by query.By) bool { return b.Dataset.Meanings[by.Field].IsYear && by.Width == "1" && !by.Log }
	set := func(label, interval string, next query.By) {
		next.Field, next.Name = by.Field, f.Name
		if interval != "" {
			next.Name += ":" + interval
		}
		current := next.Grain == by.Grain && next.Width == by.Width && next.Log == by.Log
		w.Choices = append(w.Choices, b.choice(label, current, func(q *Question) { q.By[at] = next }))
	}
	switch grains := query.Grains(f); {
	case len(grains) > 0:
		for _, g := range grains {
			set(grainText(g), string(g), query.By{Grain: g})
		}
		if by.Grain != "" {
			w.Text = grainText(by.Grain)
		}
	case f.Type == herb.TypeNumber || f.Type == herb.TypeDuration:
		for _, width := range b.widths(by) {
			label := "steps of " + widthText(f, width)
			if isEachYear(query.By{Field: by.Field, Width: width}) {
				label = "each year"
			}
			set(label, width, query.By{Width: width})
		}
		if first := cmp.Or(logWidth(by), b.Dataset.LogWidth(by.Field)); first != "" && f.Type == herb.TypeNumber {
			set("logarithmic steps", "log"+first, query.By{Width: first, Log: true})
		}
		switch {
		case by.Log:
			w.Before, w.Text = " in ", "logarithmic steps"
		case isEachYear(by):
			w.Text, w.Quiet = "+ steps", true
		case by.Width != "":
			w.Before, w.Text = " in ", "steps of "+widthText(f, by.Width)
		}
	default:
		return
	}
	set("each value", "", query.By{})
	b.words = append(b.words, w)
}

// grainText returns a grain in words, such as month of year.
func grainText(g query.Grain) string { return strings.ReplaceAll(string(g), "_", " ") }

// logWidth returns the width of the first logarithmic interval; empty if the intervals are linear.
func logWidth(by query.By) string {
	if by.Log {
		return by.Width
	}
	return ""
}

// widths returns round widths of the buckets of a number field, with the current one.
func (b *sentenceBuilder) widths(by query.By) (widths []string) {
	for _, count := range []float64{100, 50, 20, 10, 5} {
		if w := bucketWidth(&b.Fields[by.Field], b.Dataset.Meanings[by.Field].Report, count); w != "" {
			widths = append(widths, w)
		}
	}
	if len(widths) == 0 {
		widths = []string{"1", "10", "100", "1000"}
	}
	if by.Width != "" && !by.Log {
		widths = append(widths, by.Width)
	}
	value := func(s string) float64 {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return math.Inf(1)
		}
		return n
	}
	slices.SortFunc(widths, func(a, b string) int {
		switch {
		case value(a) < value(b):
			return -1
		case value(a) > value(b):
			return 1
		}
		return 0
	})
	return slices.Compact(widths)
}

// top adds how many of the groups are shown, and in which order.
func (b *sentenceBuilder) top(groups int) {
	if b.q.By[0].HasIntervals() {
		return
	}
	texts := map[order][2]string{
		orderLargest: {" largest", "largest first"}, orderSmallest: {" smallest", "smallest first"}, orderLabel: {" first", "in order"},
	}
	name := func(o order, top int) string {
		if top >= groups || b.q.Kind == kindTable {
			return texts[o][1]
		}
		return strconv.Itoa(top) + texts[o][0]
	}
	w := Word{ID: "top", Before: ", the ", Text: name(b.q.Order, b.q.Top)}
	if b.q.Top >= groups || b.q.Kind == kindTable {
		w.Before, w.Quiet = ", ", b.q.Order == orderLargest
	}
	seen := map[string]bool{}
	for _, o := range []order{orderLargest, orderSmallest, orderLabel} {
		for _, top := range []int{10, defaultTop, 50, maxTop} {
			if label := name(o, top); !seen[label] && groups > 0 {
				seen[label] = true
				w.Choices = append(w.Choices, b.choice(label, label == w.Text, func(q *Question) { q.Order, q.Top = o, top }))
			}
		}
	}
	if len(w.Choices) > 0 {
		b.words = append(b.words, w)
	}
}

// split adds how many series are shown.
func (b *sentenceBuilder) split(series int) {
	shown := b.q.series()
	usual, most := b.q.seriesLimits()
	w := Word{ID: "series", Before: ", the ", Text: strconv.Itoa(shown) + " largest", Quiet: shown >= series}
	switch {
	case w.Quiet:
		w.Before, w.Text = ", ", "all "+strconv.Itoa(series)
	case shown == 1:
		w.Text = "largest"
	}
	if len(b.q.Series) > 0 {
		names := make([]string, len(b.q.Series))
		for i, label := range b.q.Series {
			names[i] = b.q.groupLabel(b.q.By[1], label)
		}
		const longest = 80
		w.Before, w.Text, w.Quiet = ": ", herb.Clip(strings.Join(names, ", "), longest), false
	}
	numbers := []int{2, 3, 4, 6, 8, 12, heatRows, shown, usual}
	slices.Sort(numbers)
	for _, n := range slices.Compact(numbers) {
		if n <= most {
			w.Choices = append(w.Choices, b.choice(strconv.Itoa(n)+" largest", n == shown && len(b.q.Series) == 0, func(q *Question) { q.Split, q.Series = n, nil }))
		}
	}
	if series > 1 || len(b.q.Series) > 0 {
		b.words = append(b.words, w)
	}
}

func (b *sentenceBuilder) kind() {
	kinds := b.q.kinds()
	if len(kinds) < 3 && b.q.Kind != kindTable { // the table beside the chart has a link to that of all values
		return
	}
	w := Word{ID: "kind", Before: " as ", Text: kindText(b.q.Kind)}
	for _, k := range kinds {
		if k == plot.ScatterPlot {
			continue // it follows
		}
		w.Choices = append(w.Choices, b.choice(kindText(k), k == b.q.Kind && !b.q.Gaps, func(q *Question) {
			if b.q.isScatter() {
				q.By[0], q.By[1] = byOf(b.Dataset, q.By[0].Field), byOf(b.Dataset, q.By[1].Field)
			}
			q.Kind, q.Gaps = k, false
		}))
		if k == plot.Lines && !b.q.isCount() {
			w.Choices = append(w.Choices, b.choice(gapsText, b.q.Gaps, func(q *Question) { q.Kind, q.Gaps = k, true }))
		}
	}
	if q, ok := b.scatterOf(); ok {
		w.Choices = append(w.Choices, state.Link{Label: kindText(plot.ScatterPlot), Current: b.q.isScatter(), Href: questionHref(b.State, q)})
	}
	if b.q.Gaps {
		w.Text = gapsText
	}
	b.words = append(b.words, w)
}
