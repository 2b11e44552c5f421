package charts

import (
	"math"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/plot"
	"herbarium/internal/web/view/state"
)

// canDraw reports whether a field has measures of a kind that are numbers or durations: a chart has
// no axis for the earliest date or the first text.
func canDraw(k query.MeasureKind, f *herb.Field) bool {
	t := k.ResultType(f.Type)
	return k.AppliesTo(f) && (t == herb.TypeNumber || t == herb.TypeDuration)
}

// isDuration reports whether the values of the measure are durations. The axis of a chart has them
// in hours.
func (q *Question) isDuration() bool {
	return q.Measure.Field >= 0 && q.Measure.Kind.ResultType(q.fields[q.Measure.Field].Type) == herb.TypeDuration
}

// unit returns the sign of the values of the measure; empty if there is none.
func (q *Question) unit() string {
	if q.isDuration() {
		return "h"
	}
	return q.Measure.Unit(q.fields)
}

// number returns the number that a value of the measure represents.
func (q *Question) number(value string) (n float64, ok bool) {
	if q.isDuration() {
		const hour = 60 * 60
		seconds, _, ok := columns.ParseRange(&herb.Field{Type: herb.TypeDuration}, value, value)
		return seconds / hour, ok && !math.IsInf(seconds, 0)
	}
	n, err := strconv.ParseFloat(value, 64)
	return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
}

// exact formats a value of the measure with all its digits, but at most three decimals more than
// the numbers that it is computed from have.
func (q *Question) exact(value string) string {
	switch {
	case value == "":
		return "–"
	case q.isDuration():
		return value
	case !q.Measure.Kind.IsComputed():
		return plot.WithUnit(value, q.unit()) // may be a year
	}
	if q.Measure.Field >= 0 {
		if r := q.data.Meanings[q.Measure.Field].Report; r != nil {
			value = format.RoundDecimals(value, r.Decimals+3)
		}
	}
	return plot.WithUnit(format.GroupNumber(&herb.Field{}, value), q.unit())
}

// short formats a value of the measure, rounded to what a reader compares: long ones are compact.
func (q *Question) short(value string) string {
	exact := q.exact(value)
	_, isNumber := q.number(value)
	switch {
	case value != "" && q.isDuration():
		return format.CompactDuration(value)
	case len(exact) > 2*format.LongNumber && (isNumber || q.Measure.Kind.IsComputed()):
		return plot.WithUnit(format.Compact(value), q.unit())
	}
	return exact
}

// label formats a value of the measure as a label of a chart.
func (q *Question) label(value string) string {
	_, ok := q.number(value)
	switch {
	case q.isDuration():
		return q.short(value)
	case !ok:
		return herb.Clip(q.short(value), state.MaxChipText)
	}
	return plot.WithUnit(format.Compact(value), q.unit())
}
