package charts

import (
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/plot"
	"herbarium/internal/web/view/state"
)

// Paths are the pages that parts of a chart lead to. An empty path is the current page.
type Paths struct{ Table, Chart string }

// withQuestion returns the state with another question about the same rows. The title of the
// picture is about the measure and the groups.
func withQuestion(s *state.State, q *Question) *state.State {
	other := *s
	other.Question = q.params()
	isShown := func(p query.Param) bool { return p.Name != query.ParamBy && p.Name != query.ParamMeasure }
	asked := func(ps query.Params) query.Params { return slices.DeleteFunc(slices.Clone(ps), isShown) }
	if !slices.Equal(asked(other.Question), asked(s.Question)) {
		other.Picture.Title = ""
	}
	return &other
}

// questionHref returns the link to another question about the same rows.
func questionHref(s *state.State, q *Question) string { return withQuestion(s, q).Href(s.AnyPage()) }

// groupsHref returns the link to the chart of the rows of one series, or of all if it is negative,
// in the groups from one label to another. Rows without a place on the axis are in the table. The
// link is empty if no filter selects the rows.
func (b *answerBuilder) groupsHref(from, to string, series int) string {
	if b.hasNoFilter(b.By[0], from) || series >= 0 && b.hasNoFilter(b.By[1], b.series[series].label) {
		return ""
	}
	ps := filterGroups(b.State, b.AnyPage(), b.Question, b.By[0], from, to)
	if series >= 0 && !b.series[series].other {
		ps = filterGroups(b.State, ps, b.Question, b.By[1], b.series[series].label, b.series[series].label)
	}
	if from == "" && b.By[0].HasIntervals() {
		return b.TableHref(b.paths.Table, ps)
	}
	q := b.Question
	if from == to {
		q = q.divided()
	}
	other := *b.State
	other.Question = q.params()
	return state.Join(b.paths.Chart, other.WithOwn(ps).Encode())
}

// hasNoFilter reports whether no filter selects the rows of a group.
func (q *Question) hasNoFilter(by query.By, label string) bool {
	return q.isColumns(by) || by.IsCyclic() && label != ""
}

// divided returns the question for the rows of a single group: an interval of time is divided into
// shorter ones, so that the chart has more than one group.
func (q *Question) divided() *Question {
	shorter := map[query.Grain]query.Grain{
		query.GrainYear: query.GrainMonth, query.GrainQuarter: query.GrainMonth, query.GrainMonth: query.GrainDay,
		query.GrainWeek: query.GrainDay,
		query.GrainDay:  query.GrainHour, query.GrainHour: query.GrainMinute,
	}[q.By[0].Grain]
	f := &q.fields[q.By[0].Field]
	next := withGrain(q.data, q.By[0].Field, shorter)
	if !slices.Contains(query.Grains(f), shorter) ||
		slices.ContainsFunc(q.By[1:], func(o query.By) bool { return o.Name == next.Name }) {
		return q
	}
	return q.with(func(q *Question) { q.By[0] = next })
}

// maxSeriesBytes limits the labels in the link that adds a series.
const maxSeriesBytes = 2000

// toggled returns the question with a series added to those of the chart, or removed from them. It
// is nil if the chart would have none, or too many.
func (b *answerBuilder) toggled(label string) *Question {
	labels := slices.Clone(b.Question.Series)
	if len(labels) == 0 {
		labels = labelsOf(b.drawn(b.Aggregates))
	}
	usual, most := b.seriesLimits()
	if i := slices.Index(labels, label); i >= 0 {
		labels = slices.Delete(labels, i, i+1)
	} else {
		labels = append(labels, label)
	}
	if b.isWide() || len(labels) == 0 || len(labels) > most || len(strings.Join(labels, "")) > maxSeriesBytes {
		return nil
	}
	byDefault := labelsOf(b.Aggregates.Series.Rows[:min(len(b.Aggregates.Series.Rows), usual)])
	if slices.Equal(slices.Sorted(slices.Values(labels)), slices.Sorted(slices.Values(byDefault))) {
		labels = nil
	}
	return b.Question.with(func(q *Question) { q.Series, q.Split = labels, 0 })
}

// seriesColors returns the colors of the series of a chart. Each has that of its rank among all
// series, so that colors stay when a series is added or removed; those of a lower rank have the
// colors that are left.
func (b *answerBuilder) seriesColors(drawn []query.GroupRow) []int {
	colors, isUsed := make([]int, len(drawn)), map[int]bool{}
	if b.Question.Kind == plot.Heat || b.Question.Kind == kindTable { // colors are values, or none
		return slices.Repeat([]int{1}, len(drawn))
	}
	for i, row := range drawn {
		rank := slices.IndexFunc(b.Aggregates.Series.Rows, func(o query.GroupRow) bool { return o.By[0] == row.By[0] })
		if rank >= 0 && rank < plot.MaxSeries {
			colors[i], isUsed[rank+1] = rank+1, true
		}
	}
	next := 1
	for i := range colors {
		if colors[i] > 0 {
			continue
		}
		for isUsed[next] && next < plot.MaxSeries {
			next++
		}
		colors[i], isUsed[next] = next, true
	}
	return colors
}

// seriesRow completes the row of a series in the table beside a chart.
func (b *answerBuilder) seriesRow(r *AnswerRow, label string) {
	r.Toggles = true
	for i, s := range b.series {
		if s.label == label && !s.other {
			r.Shown, r.Series, r.Class = true, i, plot.ClassName(s.color)
		}
	}
	if q := b.toggled(label); q != nil {
		r.Href = questionHref(b.State, q)
	}
}

// listed returns the series that the table beside a chart lists: the largest ones, and those of the
// question.
func (b *answerBuilder) listed() []query.GroupRow {
	found := slices.Clone(b.Aggregates.Series.Rows)
	for _, row := range b.drawn(b.Aggregates) {
		if !slices.ContainsFunc(found, func(o query.GroupRow) bool { return o.By[0] == row.By[0] }) {
			found = append(found, row)
		}
	}
	return found
}

// seriesNote says how to choose the series of the chart.
func (b *answerBuilder) seriesNote() string {
	if _, most := b.seriesLimits(); len(b.drawn(b.Aggregates)) >= most {
		return "The chart has room for " + herb.Plural(most, "series", "series") + ": remove one to add another."
	}
	return "Click a name to add its series to the chart or to remove it."
}
