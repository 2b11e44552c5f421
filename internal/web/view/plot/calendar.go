package plot

import (
	"math"
	"time"
)

// tickLevel is a distance between ticks of an axis of time: months, days or hours.
type tickLevel struct{ months, days, hours int }

// tickLevels returns the distances between ticks, the shortest first. Seven days are a week, which
// begins on Monday.
func tickLevels() []tickLevel {
	levels := []tickLevel{{hours: 1}, {hours: 3}, {hours: 6}, {hours: 12}, {days: 1}, {days: 7}, {months: 1},
		{months: 3}}
	for _, years := range []int{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000} {
		levels = append(levels, tickLevel{months: 12 * years})
	}
	return levels
}

// seconds returns the greatest length of the level.
func (l tickLevel) seconds() float64 {
	const hour = 60 * 60
	return float64(l.months)*31*24*hour + float64(l.days)*24*hour + float64(l.hours)*hour
}

// start returns the first tick that is not before a time.
func (l tickLevel) start(t time.Time) time.Time {
	year, month, day := t.Date()
	zone := t.Location()
	var tick time.Time
	switch {
	case l.months >= 12:
		years := l.months / 12
		tick = time.Date(year-year%years, time.January, 1, 0, 0, 0, 0, zone)
	case l.months > 0:
		tick = time.Date(year, month-(month-1)%time.Month(l.months), 1, 0, 0, 0, 0, zone)
	case l.days == 7:
		tick = time.Date(year, month, day-(int(t.Weekday())+6)%7, 0, 0, 0, 0, zone)
	case l.days > 0:
		tick = time.Date(year, month, day, 0, 0, 0, 0, zone)
	default:
		tick = time.Date(year, month, day, t.Hour()-t.Hour()%l.hours, 0, 0, 0, zone)
	}
	if tick.Before(t) {
		return l.next(tick)
	}
	return tick
}

func (l tickLevel) next(t time.Time) time.Time {
	if l.hours > 0 {
		return t.Add(time.Duration(l.hours) * time.Hour)
	}
	return t.AddDate(0, l.months, l.days)
}

// label returns the label of a tick. Only the first tick of a year names it, and only the first of
// a day the day.
func (l tickLevel) label(t, before time.Time, quarters bool) string {
	newYear := before.IsZero() || t.Year() != before.Year()
	format, quarter := "2 Jan", ""
	switch {
	case l.months >= 12:
		return t.Format("2006")
	case l.months > 0 && quarters:
		format, quarter = "", "Q"+string(rune('1'+(t.Month()-1)/3))
	case l.months > 0:
		format = "Jan"
	case l.hours > 0 && t.YearDay() == before.YearDay() && !newYear:
		return t.Format("15:04")
	case l.hours > 0 && t.Hour() != 0:
		format = "15:04, 2 Jan"
	}
	if newYear {
		format += " 2006"
	}
	return quarter + t.Format(format)
}

// calendarLabels returns labels at the beginnings of years, quarters, months, weeks, days or hours:
// the shortest of them that are not shorter than a group and leave enough space. It returns nil if
// there are none.
func (a axisSpan) calendarLabels(d Data, width float64) []axisLabel {
	// Lengths in seconds. Months differ in length, so a level is not shorter than a group if it has
	// at least most of its length, and a quarter has at least 80 days.
	const second, most, quarter = 1, 0.9, 80 * 24 * 60 * 60
	length := math.Inf(1) // of the shortest group
	for _, g := range d.Groups {
		length = min(length, max(g.Next-g.At, second))
	}
	first := time.Unix(int64(bounded(a.from)), 0).In(d.Axis.Zone)
	for _, l := range tickLevels() {
		if l.seconds() < length*most || (a.to-a.from)/l.seconds() > maxTicks {
			continue
		}
		isGroup := a.bars && l.seconds() < length*1.2 // a label in the middle of each bar
		quarters := length > quarter && length < 2*quarter
		var labels []axisLabel
		var before time.Time
		for t := l.start(first); len(labels) < 2*maxTicks; t = l.next(t) {
			at := float64(t.Unix())
			if at > a.to || isGroup && at >= a.to {
				break
			}
			label := axisLabel{text: l.label(t, before, quarters), x: a.at(at)}
			if isGroup {
				label.x = (a.at(at) + a.at(float64(l.next(t).Unix()))) / 2
			}
			labels, before = append(labels, label), t
		}
		if fitLabels(labels, width) {
			return labels
		}
	}
	return nil
}
