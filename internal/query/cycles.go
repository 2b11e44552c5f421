package query

import (
	"strconv"
	"time"

	"herbarium/internal/herb"
)

// The grains of cycles: their groups recur, such as all Mondays. A label is a number.
const (
	GrainWeekday     Grain = "weekday"       // 1 is Monday, 7 is Sunday
	GrainMonthOfYear Grain = "month_of_year" // 1 to 12
	GrainHourOfDay   Grain = "hour_of_day"   // 0 to 23
)

// Cycle is the groups of a grain that recur, in their natural order.
type Cycle struct {
	grain Grain
	unit  Grain // of the intervals that have one group each
	first int   // label of the first group
	Len   int   // number of groups
}

// Cycle returns the groups of a grain; ok is false if they do not recur.
func (g Grain) Cycle() (c Cycle, ok bool) {
	switch g {
	case GrainWeekday:
		return Cycle{g, GrainDay, 1, 7}, true
	case GrainMonthOfYear:
		return Cycle{g, GrainMonth, 1, 12}, true
	case GrainHourOfDay:
		return Cycle{g, GrainHour, 0, 24}, true
	}
	return c, false
}

// IsCyclic reports whether the groups recur.
func (b By) IsCyclic() bool {
	_, ok := b.Grain.Cycle()
	return ok
}

// Label returns the label of the group at a position.
func (c Cycle) Label(position int) string { return strconv.Itoa(c.first + position) }

// PositionOf returns the position of the group with a label; ok is false if there is none.
func (c Cycle) PositionOf(label string) (position int, ok bool) {
	n, err := strconv.Atoi(label)
	return n - c.first, err == nil && n >= c.first && n < c.first+c.Len
}

// Position returns the position of the group of a time in its zone.
func (c Cycle) Position(t time.Time) int {
	switch c.grain {
	case GrainWeekday:
		return (int(t.Weekday()) + 6) % 7
	case GrainMonthOfYear:
		return int(t.Month()) - 1
	default:
		return t.Hour()
	}
}

// Find returns the position of the group of a value, given in canonical form, and the least value
// after it that may have another group; next is empty if there is none. The end of the day, 24:00,
// belongs to the first hour.
func (c Cycle) Find(t herb.Type, canonical string) (position int, next string) {
	interval := By{Grain: c.unit}.Interval(t, canonical)
	switch {
	case interval.From == "":
		return 0, "" // no canonical form
	case t == herb.TypeTime:
		hour, _ := strconv.Atoi(interval.From[:2])
		return hour % c.Len, interval.Next
	}
	start, _ := time.Parse(timeFormat(t), interval.From) // formatted before
	return c.Position(start), interval.Next
}
