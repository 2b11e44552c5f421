package query

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Grain is what dates, datetimes and times are grouped by: intervals of a length, or a Cycle.
type Grain string

// The grains of intervals. Weeks begin on Monday.
const (
	GrainYear    Grain = "year"
	GrainQuarter Grain = "quarter"
	GrainMonth   Grain = "month"
	GrainWeek    Grain = "week"
	GrainDay     Grain = "day"
	GrainHour    Grain = "hour"
	GrainMinute  Grain = "minute"
)

// Grains returns the grains of a field, the longest intervals first, then cycles. Periods have none
// that are shorter. Types other than dates, datetimes and times have none.
func Grains(f *herb.Field) []Grain {
	dates := []Grain{GrainYear, GrainQuarter, GrainMonth, GrainWeek, GrainDay}
	switch f.Type {
	case herb.TypeDate:
		switch precision := Grain(text.PrecisionOf(f)); precision {
		case GrainDay:
			return append(dates, GrainWeekday, GrainMonthOfYear)
		case GrainQuarter:
			return dates[:2]
		default:
			return append(dates[:1+slices.Index(dates, precision)], GrainMonthOfYear)
		}
	case herb.TypeDateTime:
		return append(dates, GrainHour, GrainWeekday, GrainMonthOfYear, GrainHourOfDay)
	case herb.TypeTime:
		return []Grain{GrainHour, GrainMinute, GrainHourOfDay}
	default:
		return nil
	}
}

// ShortestGrain returns the shortest grain from an hour to a year of which the times of a field,
// given the first and the last one as written, have a suitable number of intervals, about; empty if
// there is none, or if they are not times. isSuitable is called for the shortest one first.
func ShortestGrain(f *herb.Field, first, last string, isSuitable func(intervals int) bool) Grain {
	low, _ := text.Canonical(f, first)
	high, _ := text.Canonical(f, last)
	from, err := time.Parse(timeFormat(f.Type), low)
	to, err2 := time.Parse(timeFormat(f.Type), high)
	grains := Grains(f)
	for _, g := range []struct {
		grain Grain
		hours float64
	}{{GrainHour, 1}, {GrainDay, 24}, {GrainWeek, 168}, {GrainMonth, 730.5}, {GrainQuarter, 2191.5},
		{GrainYear, 8766}} {
		isKnown := err == nil && err2 == nil && slices.Contains(grains, g.grain)
		if isKnown && isSuitable(int(to.Sub(from).Hours()/g.hours+.5)+1) {
			return g.grain
		}
	}
	return ""
}

func grainNames(grains []Grain) []string {
	names := make([]string, len(grains))
	for i, g := range grains {
		names[i] = string(g)
	}
	return names
}

// Start returns the start of the interval that contains a time, in the zone of the time.
func (g Grain) Start(t time.Time) time.Time {
	if g == GrainHour { // also in an hour that occurs twice
		return t.Add(-time.Duration(t.Minute())*time.Minute - time.Duration(
			t.Second())*time.Second - time.Duration(t.Nanosecond()))
	}
	year, month, day := t.Date()
	switch g {
	case GrainYear:
		month, day = time.January, 1
	case GrainQuarter:
		month, day = month-(month-1)%3, 1
	case GrainMonth:
		day = 1
	case GrainWeek:
		day -= (int(t.Weekday()) + 6) % 7
	}
	return time.Date(year, month, day, 0, 0, 0, 0, t.Location())
}

// Next returns the start of the interval after one that starts at a time.
func (g Grain) Next(start time.Time) time.Time {
	switch g {
	case GrainYear:
		return start.AddDate(1, 0, 0)
	case GrainQuarter:
		return start.AddDate(0, 3, 0)
	case GrainMonth:
		return start.AddDate(0, 1, 0)
	case GrainWeek:
		return start.AddDate(0, 0, 7)
	case GrainDay:
		return start.AddDate(0, 0, 1)
	default:
		return start.Add(time.Hour)
	}
}

// Label returns the label of the interval that starts at a time. Only hours have a zone: where
// clocks are set back, an hour occurs twice. See WithoutZone.
func (g Grain) Label(start time.Time) string {
	if g == GrainQuarter {
		return start.Format("2006-Q") + string(rune('1'+(start.Month()-1)/3))
	}
	return start.Format(g.labelFormat())
}

func (g Grain) labelFormat() string {
	switch g {
	case GrainYear:
		return "2006"
	case GrainMonth:
		return "2006-01"
	case GrainHour:
		return "2006-01-02T15:04Z07:00"
	default:
		return time.DateOnly
	}
}

// ParseLabel returns the start of the interval with a label, in a zone; nil is UTC.
func (g Grain) ParseLabel(label string, zone *time.Location) (start time.Time, ok bool) {
	zone = cmp.Or(zone, time.UTC)
	if year, quarter, ok := strings.Cut(label, "-Q"); ok && g == GrainQuarter {
		start, err := time.ParseInLocation("2006", year, zone)
		n, err2 := strconv.Atoi(quarter)
		return start.AddDate(0, 3*n-3, 0), err == nil && err2 == nil
	}
	start, err := time.ParseInLocation(g.labelFormat(), label, zone)
	if err != nil && g == GrainHour { // WithoutZone
		start, err = time.Parse("2006-01-02T15:04", label)
	}
	return start, err == nil
}

// WithoutZone returns the label of an interval of a field whose values have no zone.
func (g Grain) WithoutZone(label string) string {
	if g == GrainHour {
		return strings.TrimSuffix(label, "Z")
	}
	return label
}

// Interval is a range of values that form a group.
type Interval struct {
	Label string
	From  string // least value, in canonical form
	Next  string // least value after the interval, in canonical form; empty if there is none
}

// Interval returns the interval that contains a value of the field, given in canonical form. The
// field must not be grouped by a Cycle.
func (b By) Interval(t herb.Type, canonical string) Interval {
	switch t {
	case herb.TypeNumber, herb.TypeDuration:
		return b.bucket(canonical)
	case herb.TypeTime:
		return b.Grain.timeOfDay(canonical)
	}
	format := timeFormat(t)
	at, err := time.Parse(format, canonical)
	if err != nil {
		return Interval{} // no canonical form
	}
	start := b.Grain.Start(at)
	interval := Interval{Label: b.Grain.Label(start), From: start.Format(format)}
	if next := b.Grain.Next(start); next.Year() <= 9999 {
		interval.Next = next.Format(format)
	}
	return interval
}

// LeastCount returns a lower bound of the number of intervals from one to another, given the values
// at which they start in canonical form. It takes the same time for any number of intervals.
func (b By) LeastCount(t herb.Type, from, to string) int {
	switch t {
	case herb.TypeTime:
		return 0 // a day has few
	case herb.TypeNumber, herb.TypeDuration:
		plain := &herb.Field{Type: herb.TypeNumber}
		// the start of an interval has a digit more than its values, and the decimals of the width
		const most = 2*MaxEdgeDigits + 1
		first, okFirst := parseDigits(plain, from, most)
		last, okLast := parseDigits(plain, to, most)
		width, _ := parseDecimal(plain, b.Width) // validated before
		if !okFirst || !okLast || b.Log {        // logarithmic ones are few
			return 0
		}
		places := max(first.places, last.places, width.places)
		n := new(big.Int).Sub(last.units(places), first.units(places))
		n.Div(n, width.units(places))
		if !n.IsInt64() || n.Int64() >= math.MaxInt32 {
			return math.MaxInt32
		}
		return int(n.Int64()) + 1
	}
	first, err := time.Parse(timeFormat(t), from)
	last, err2 := time.Parse(timeFormat(t), to)
	if err != nil || err2 != nil {
		return 0
	}
	longest := map[Grain]int64{GrainYear: 366 * 24, GrainQuarter: 92 * 24, GrainMonth: 31 * 24, GrainWeek: 7 * 24,
		GrainDay: 24}[b.Grain]
	return int((last.Unix()-first.Unix())/3600/max(longest, 1)) + 1
}

// timeOfDay returns the interval of a time of day in canonical form. The end of the day is an
// interval of its own.
func (g Grain) timeOfDay(canonical string) Interval {
	if len(canonical) < len(time.TimeOnly) {
		return Interval{} // no canonical form
	}
	const dayMinutes = 24 * 60
	hour, _ := strconv.Atoi(canonical[:2])
	start, length := hour*60, 60
	if g == GrainMinute {
		minute, _ := strconv.Atoi(canonical[3:5])
		start, length = start+minute, 1
	}
	label := func(minutes int) string { return fmt.Sprintf("%02d:%02d", minutes/60, minutes%60) }
	interval := Interval{Label: label(start), From: label(start) + ":00"}
	if next := start + length; next <= dayMinutes {
		interval.Next = label(next) + ":00"
	}
	return interval
}

// timeFormat returns the format of the canonical form of dates or datetimes.
func timeFormat(t herb.Type) string {
	if t == herb.TypeDate {
		return time.DateOnly
	}
	return text.CanonicalDateTime
}

// bucket returns the bucket of a number: the greatest multiple of the width that is not above it is
// its label.
func (b By) bucket(canonical string) Interval {
	plain := &herb.Field{Type: herb.TypeNumber}
	value, ok := parseDecimal(plain, canonical)
	width, _ := parseDecimal(plain, b.Width) // validated before
	if !ok {
		return Interval{}
	}
	if b.Log {
		return logBucket(value, width)
	}
	places := max(value.places, width.places)
	step := width.units(places)
	lower := new(big.Int).Div(value.units(places), step) // rounds toward negative infinity: step is positive
	lower.Mul(lower, step)
	from := decimal{lower, places}.String()
	return Interval{
		Label: from,
		From:  from,
		Next:  decimal{new(big.Int).Add(lower, step), places}.String(),
	}
}

// logBucket returns the logarithmic bucket of a number. Its bounds are 0 and the numbers 1, 2 and 5
// times a power of ten that is not less than first, with both signs.
func logBucket(value, first decimal) Interval {
	size := decimal{new(big.Int).Abs(value.unscaled), value.places}
	least := edgeBelow(first)
	at := least - 1 // position of the lower bound of the size
	if size.cmp(first) >= 0 {
		at = edgeBelow(size)
	}
	edge := func(at int) decimal {
		if at < least {
			return decimal{new(big.Int), 0}
		}
		return logEdge(at)
	}
	low, high := edge(at), edge(at+1)
	if value.unscaled.Sign() < 0 {
		if size.cmp(low) == 0 { // the lower bound of the bucket before
			low, high = edge(at-1), low
		}
		low, high = decimal{new(big.Int).Neg(high.unscaled), high.places},
			decimal{new(big.Int).Neg(low.unscaled), low.places}
	}
	return Interval{Label: low.String(), From: low.String(), Next: high.String()}
}

// logEdge returns the number at a position of the sequence 1, 2, 5, 10, 20, 50 and so on; before
// position 0, 0.5, 0.2 and so on.
func logEdge(at int) decimal {
	power, digit := at/3, at%3
	if digit < 0 {
		power, digit = power-1, digit+3
	}
	return decimal{big.NewInt([]int64{1, 2, 5}[digit]), -power}
}

// edgeBelow returns the position of the greatest number of the sequence of logEdge that is not
// greater than a positive number.
func edgeBelow(d decimal) int {
	digits := d.unscaled.String()
	at := 3 * (len(digits) - 1 - d.places)
	switch {
	case digits[0] >= '5':
		return at + 2
	case digits[0] >= '2':
		return at + 1
	}
	return at
}

// cmp compares two numbers.
func (d decimal) cmp(o decimal) int {
	places := max(d.places, o.places)
	return d.units(places).Cmp(o.units(places))
}
