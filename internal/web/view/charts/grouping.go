package charts

import (
	"math"
	"slices"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/plot"
)

// byOf returns how a field is grouped unless the reader chooses: dates by intervals of a suitable
// length, numbers with many values in buckets, others by their values.
func byOf(d *columns.Dataset, field int) query.By {
	f, c := d.Fields[field], d.Meanings[field].Report
	b := query.By{Name: f.Name, Field: field}
	switch {
	case len(f.Categories) > 0:
	case len(query.Grains(&f)) > 0:
		return withGrain(d, field, defaultGrain(&f, c))
	case d.Meanings[field].IsYear:
		const most = 200 // intervals
		b.Width = "1"
		if low, high, ok := columns.ParseRange(&f, c.Min, c.Max); ok && high-low > most {
			b.Width = bucketWidth(&f, c, most)
		}
		b.Name += ":" + b.Width
	case (f.Type == herb.TypeNumber || f.Type == herb.TypeDuration) && d.Meanings[field].Kind != columns.KindCode &&
		(c == nil || c.Distinct > defaultTop):
		if first := d.LogWidth(field); first != "" {
			return withLog(d, field, first)
		}
		if width := bucketWidth(&f, c, 20); width != "" {
			b.Width, b.Name = width, f.Name+":"+width
		}
	}
	return b
}

func withGrain(d *columns.Dataset, field int, g query.Grain) query.By {
	return query.By{Name: d.Fields[field].Name + ":" + string(g), Field: field, Grain: g}
}

func withLog(d *columns.Dataset, field int, first string) query.By {
	return query.By{Name: d.Fields[field].Name + ":log" + first, Field: field, Width: first, Log: true}
}

// defaultGrain returns the shortest grain of which a field has few intervals. Periods are shown one
// by one.
func defaultGrain(f *herb.Field, c *herb.ColumnReport) query.Grain {
	const few = 100
	if f.Type == herb.TypeTime {
		return query.GrainHour
	}
	if period := text.PrecisionOf(f); period != text.PrecisionDay {
		return query.Grain(period)
	}
	if c == nil {
		return query.GrainMonth
	}
	from, ok := columns.ParseTime(f, c.Min)
	to, ok2 := columns.ParseTime(f, c.Max)
	if !ok || !ok2 {
		return query.GrainMonth
	}
	hours := to.Sub(from).Hours()
	for _, g := range []struct {
		grain query.Grain
		hours float64
	}{{query.GrainHour, 1}, {query.GrainDay, 24}, {query.GrainWeek, 168}, {query.GrainMonth, 730},
		{query.GrainQuarter, 2190}} {
		if hours/g.hours <= few && slices.Contains(query.Grains(f), g.grain) {
			return g.grain
		}
	}
	return query.GrainYear
}

// bucketWidth returns a round width of which the range of a number field has about count, in
// seconds for a duration; empty if the range is not known.
func bucketWidth(f *herb.Field, c *herb.ColumnReport, count float64) string {
	if c == nil {
		return ""
	}
	low, high, ok := columns.ParseRange(f, c.Min, c.Max)
	if !ok || high <= low || math.IsInf(high-low, 0) {
		return ""
	}
	step := plot.Step((high - low) / count)
	if f.Type == herb.TypeDuration {
		step = durationStep((high - low) / count)
	}
	return strconv.FormatFloat(step, 'f', -1, 64)
}

// durationStep returns a number of seconds that is a round duration, not less than the given one.
func durationStep(seconds float64) float64 {
	const day = 24 * 60 * 60
	switch steps := query.RoundSeconds(); {
	case seconds <= 1:
		return plot.Step(seconds)
	case seconds > float64(steps[len(steps)-1]):
		return day * plot.Step(seconds/day)
	default:
		return float64(steps[slices.IndexFunc(steps, func(step int64) bool { return float64(step) >= seconds })])
	}
}
