package charts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/plot"
	"herbarium/internal/web/view/state"
)

// groupLabel returns the label of a group as readers write it.
func (q *Question) groupLabel(b query.By, label string) string {
	if q.isColumns(b) {
		return q.columnText(label)
	}
	if label == "" {
		return "empty"
	}
	if b.IsCyclic() {
		return cycleLabel(b.Grain, label)
	}
	if b.Width != "" {
		if f := &q.fields[b.Field]; f.Type == herb.TypeDuration {
			return format.CompactDuration(label) + " – " +
				format.CompactDuration(text.Localize(f, labelInterval(f, b, label).Next))
		}
		next := b.Interval(herb.TypeNumber, label).Next
		switch {
		case q.data.Meanings[b.Field].IsYear && b.Width == "1":
			return label
		case q.data.Meanings[b.Field].IsYear:
			return label + " – " + next
		}
		return edgeText(label) + " – " + edgeText(next)
	}
	if q.fields[b.Field].Type == herb.TypeTime && b.Grain != "" {
		return label
	}
	t, ok := b.Grain.ParseLabel(label, q.req.Zone)
	if b.Grain == "" || !ok {
		label = q.data.Shown(b.Field, label)
		return cmp.Or(strings.Trim(format.PlainText(herb.Clip(label, state.MaxChipText)), "\uFEFF"), "blank")
	}
	switch b.Grain {
	case query.GrainQuarter:
		return label[len(label)-2:] + " " + t.Format("2006")
	case query.GrainMonth:
		return t.Format("Jan 2006")
	case query.GrainWeek:
		return "week of " + t.Format("2 Jan 2006")
	case query.GrainDay:
		return t.Format("2 Jan 2006")
	case query.GrainHour:
		return t.Format("2 Jan 2006 15:04")
	}
	return label
}

// edgeText returns the edge of an interval of numbers.
func edgeText(edge string) string {
	if len(edge) > format.LongNumber {
		return format.Compact(edge)
	}
	return format.GroupNumber(&herb.Field{}, edge)
}

// widthText returns the width of the intervals of a field.
func widthText(f *herb.Field, width string) string {
	if f.Type == herb.TypeDuration {
		return format.CompactDuration(text.Localize(f, width))
	}
	return edgeText(width)
}

// cycleLabel returns the label of a group of a cycle as readers write it.
func cycleLabel(g query.Grain, label string) string {
	n, err := strconv.Atoi(label)
	switch {
	case err != nil:
		return label
	case g == query.GrainWeekday:
		return time.Weekday(n % 7).String()[:3]
	case g == query.GrainMonthOfYear:
		return time.Month(n).String()[:3]
	}
	return fmt.Sprintf("%02d", n)
}

// newCycleGroup returns the position of a group of a cycle on the axis.
func newCycleGroup(b query.By, label string) (g plot.Group, ok bool) {
	n, err := strconv.Atoi(label)
	g.At, g.Next, g.Label = float64(n), float64(n+1), cycleLabel(b.Grain, label)
	for _, step := range []int{2, 3, 6, 12} {
		if b.Grain == query.GrainHourOfDay && n%step == 0 {
			g.Importance++
		}
	}
	return g, err == nil
}

// labelInterval returns the interval of times of day or durations with a label.
func labelInterval(f *herb.Field, b query.By, label string) query.Interval {
	canonical, _ := text.Canonical(&herb.Field{Type: f.Type}, label) // a label of the API
	return b.Interval(f.Type, canonical)
}

// newClockGroup returns the position of an interval of times of day or durations on the axis, in
// seconds.
func newClockGroup(f *herb.Field, b query.By, label string) (g plot.Group, ok bool) {
	seconds := &herb.Field{Type: herb.TypeDuration}
	interval := labelInterval(f, b, label)
	from, next := text.Localize(f, interval.From), text.Localize(f, cmp.Or(interval.Next, interval.From))
	g.At, g.Next, ok = columns.ParseRange(seconds, from, next)
	g.Label = format.CompactDuration(label)
	const hour = 60 * 60
	for _, step := range []float64{hour, 3 * hour, 12 * hour} {
		if math.Mod(g.At, step) == 0 {
			g.Importance++
		}
	}
	return g, ok
}

// newGroup returns the position of a group on the axis. ok is false for the group of missing values
// of a field with intervals, which has none.
func (q *Question) newGroup(b query.By, label string) (g plot.Group, ok bool) {
	g.Label = q.groupLabel(b, label)
	switch {
	case !b.HasIntervals():
		return g, true
	case q.isColumns(b):
		g.At = float64(q.columnOf(label))
		g.Next = g.At + 1
		return g, true
	case label == "":
		return g, false
	case b.IsCyclic():
		return newCycleGroup(b, label)
	case q.fields[b.Field].Type == herb.TypeTime || q.fields[b.Field].Type == herb.TypeDuration:
		return newClockGroup(&q.fields[b.Field], b, label)
	case b.Log:
		return newLogGroup(b, label)
	case b.Width != "":
		width, _ := strconv.ParseFloat(b.Width, 64) // validated before
		lower, err := strconv.ParseFloat(label, 64)
		g.At, g.Next = lower, lower+width
		return g, err == nil
	}
	t, ok := b.Grain.ParseLabel(label, q.req.Zone)
	g.At, g.Next = float64(t.Unix()), float64(b.Grain.Next(t).Unix())
	return g, ok
}

// newLogGroup returns a logarithmic interval. All of them have the same width on the axis, which
// names powers of ten first.
func newLogGroup(b query.By, label string) (g plot.Group, ok bool) {
	lower, err := strconv.ParseFloat(label, 64)
	first, err2 := strconv.ParseFloat(b.Width, 64)
	if err != nil || err2 != nil {
		return g, false
	}
	if lower != 0 {
		power := math.Floor(math.Log10(math.Abs(lower)/first) + .01) // .01: rounding
		mantissa := math.Abs(lower) / first / math.Pow(10, power)
		g.At = 1 + 3*power + math.Round(math.Log2(mantissa)*.95)
		if mantissa < 1.5 {
			g.Importance = 2
		}
	}
	if lower < 0 {
		g.At = -g.At
	}
	g.Next, g.Label = g.At+1, plot.FormatTicks([]float64{lower})[0]
	return g, true
}

// axis returns the axis of the intervals of a field.
func (q *Question) axis(b query.By) (a plot.Axis) {
	switch f := &q.fields[b.Field]; {
	case b.IsCyclic(), q.isColumns(b):
		a.Whole = true
	case f.Type == herb.TypeTime || f.Type == herb.TypeDuration || b.Log:
	case b.Grain != "":
		a.Zone = q.req.Zone
		if a.Zone == nil {
			a.Zone = time.UTC
		}
	case b.Width != "":
		a.Width, _ = strconv.ParseFloat(b.Width, 64) // validated before
		a.Plain = q.data.Meanings[b.Field].IsYear
	}
	return a
}

// filterGroups returns the parameters of a listing of the rows of the groups from one label to
// another. Only intervals have several.
func filterGroups(s *state.State, ps query.Params, q *Question, b query.By, label, last string) query.Params {
	f := &s.Fields[b.Field]
	switch {
	case label == "" && (f.Type.IsScalar() || len(f.Notation.Missing) > 0):
		return ps.With(query.Param{Name: query.FilterParam(f.Name, query.OpEmpty), Value: "true"})
	case b.HasIntervals() && label != "":
		from, _ := q.bounds(b, label)
		_, to := q.bounds(b, last)
		return filterRange(s, ps, b.Field, from, to)
	}
	isEqual := func(p query.Param) bool {
		i, op, ok := query.ResolveFilter(p.Name, s.Fields)
		return ok && i == b.Field && op == query.OpEq
	}
	if f.Type == herb.TypeList && slices.ContainsFunc(ps, isEqual) { // another value would be an alternative
		return ps.With(query.Param{Name: query.FilterParam(f.Name, query.OpIn), Value: label})
	}
	return slices.DeleteFunc(slices.Clone(ps), isEqual).With(s.EqFilter(b.Field, label))
}

// bounds returns the least value of the interval with a label, and the least value after it; empty
// if there is none.
func (q *Question) bounds(b query.By, label string) (from, to string) {
	f := &q.fields[b.Field]
	switch {
	case f.Type == herb.TypeTime || f.Type == herb.TypeDuration || b.Log:
		interval := labelInterval(f, b, label)
		return text.Localize(f, interval.From), text.Localize(f, interval.Next)
	case b.Width != "":
		interval := b.Interval(herb.TypeNumber, label)
		return text.Localize(f, interval.From), text.Localize(f, interval.Next)
	}
	start, _ := b.Grain.ParseLabel(label, q.req.Zone) // a label of the API
	timeFormat := time.DateOnly
	if f.Type == herb.TypeDateTime {
		timeFormat = time.RFC3339
	}
	if next := b.Grain.Next(start); next.Year() <= 9999 {
		to = text.Localize(f, next.Format(timeFormat))
	}
	return text.Localize(f, start.Format(timeFormat)), to
}

// filterRange returns the parameters with a range of a field, from a value up to but not including
// another. Narrower ends of a range that the field is filtered by stay.
func filterRange(s *state.State, ps query.Params, field int, from, to string) query.Params {
	f := &s.Fields[field]
	low, _ := columns.BoundKey(f, from)
	high, hasHigh := columns.BoundKey(f, to)
	hasFrom, hasTo := false, false
	ps = slices.DeleteFunc(slices.Clone(ps), func(p query.Param) bool {
		i, op, ok := query.ResolveFilter(p.Name, s.Fields)
		if !ok || i != field {
			return false
		}
		bound, valid := columns.BoundKey(f, p.Value)
		switch {
		case op.IsLower():
			narrower := valid && bound >= low
			hasFrom = hasFrom || narrower
			return !narrower
		case op.IsUpper():
			narrower := valid && (!hasHigh || bound < high)
			hasTo = hasTo || narrower
			return !narrower
		}
		return false
	})
	if !hasFrom {
		ps = ps.With(query.Param{Name: query.FilterParam(s.Fields[field].Name, query.OpGte), Value: from})
	}
	if !hasTo {
		ps = ps.WithValue(query.FilterParam(s.Fields[field].Name, query.OpLt), to)
	}
	return ps
}
