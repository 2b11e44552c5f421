package charts

import (
	"cmp"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
	"herbarium/internal/web/view/columns"
)

// byOf returns how a field is grouped unless the reader chooses: dates by intervals of a suitable
// length, numbers with many values in buckets, others by their values.
func byOf(d *columns.Dataset, field int) query.By {
	f, c := d.Fields[field], d.Meanings[field].Report
	b := query.By{Name: f.Name, Field: field}
	switch {
	case len(f.Categories) > 0:
	case len(query.Grains(&f)) > 0:
		return withGrain(d, field, defaultGrain(d, field))
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
func defaultGrain(d *columns.Dataset, field int) query.Grain {
	const few = 100
	f, r := &d.Fields[field], d.Meanings[field].Report
	period := text.PrecisionOf(f)
	switch {
	case f.Type == herb.TypeTime:
		return query.GrainHour
	case period != text.PrecisionDay:
		return query.Grain(period)
	case r == nil || r.Min == "":
		return query.GrainMonth
	}
	return cmp.Or(query.ShortestGrain(f, r.Min, r.Max, func(intervals int) bool { return intervals <= few }),
		query.GrainYear)
}

// bucketWidth returns a round width of which the range of a number field has about count, in
// seconds for a duration; empty if the range is not known.
func bucketWidth(f *herb.Field, c *herb.ColumnReport, count int) string {
	if c == nil {
		return ""
	}
	return query.BucketWidth(f, c.Min, c.Max, count+1)
}
