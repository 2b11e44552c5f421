package herb

import (
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Refresh is when a source is fetched: a period such as 1h, a cron expression with five fields in
// UTC, or RefreshManual.
type Refresh string

// RefreshManual is the Refresh of a source that is fetched on request only.
const RefreshManual Refresh = "manual"

// ParseRefresh checks a Refresh.
func ParseRefresh(s string) (Refresh, error) {
	r := Refresh(strings.Join(strings.Fields(s), " "))
	if r == RefreshManual {
		return r, nil
	}
	if period, ok := ParsePeriod(s); ok {
		if period < time.Minute {
			return "", Invalidf("%s is less than a minute; write 1m or more", s)
		}
		return r, nil
	}
	c, ok := parseCron(string(r))
	if !ok {
		return "", Invalidf("%q is not a time to fetch; write a period such as 1h, a cron expression such as "+
			`"0 6 * * 1-5", or manual`, Clip(s, 100))
	}
	if c.next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return "", Invalidf("the cron expression %q names no day that exists", Clip(s, 100))
	}
	return r, nil
}

// Next returns the time of the first fetch after a time; zero if there is none.
func (r Refresh) Next(after time.Time) time.Time {
	if period, ok := ParsePeriod(string(r)); ok {
		return after.Add(max(period, time.Minute))
	}
	c, ok := parseCron(string(r))
	if !ok {
		return time.Time{}
	}
	return c.next(after)
}

// cron is a cron expression: the values of its fields as bits.
type cron struct {
	minutes, hours, days, months, weekdays uint64
	everyDay, everyWeekday                 bool // the field begins with *
}

// parseCron parses five fields: minute, hour, day of the month, month and day of the week, 0 to 7.
// Each is a list of *, numbers and ranges, perhaps with a step.
func parseCron(s string) (c cron, ok bool) {
	fields := strings.Fields(s)
	if len(fields) != 5 || len(s) > 500 {
		return c, false
	}
	for i, f := range []struct {
		to        *uint64
		low, high int
	}{{&c.minutes, 0, 59}, {&c.hours, 0, 23}, {&c.days, 1, 31}, {&c.months, 1, 12}, {&c.weekdays, 0, 7}} {
		for item := range strings.SplitSeq(fields[i], ",") {
			values, ok := parseCronItem(item, f.low, f.high)
			if !ok {
				return c, false
			}
			*f.to |= values
		}
	}
	c.weekdays |= c.weekdays >> 7 // Sunday is 0 and 7
	c.everyDay, c.everyWeekday = fields[2][0] == '*', fields[4][0] == '*'
	return c, true
}

// parseCronItem parses *, 5, 1-5, */15 or 1-30/2.
func parseCronItem(s string, low, high int) (values uint64, ok bool) {
	span, stepText, hasStep := strings.Cut(s, "/")
	from, to, step := low, high, 1
	if span != "*" {
		first, last, isRange := strings.Cut(span, "-")
		var err error
		from, err = strconv.Atoi(first)
		if err != nil {
			return 0, false
		}
		switch {
		case isRange:
			to, err = strconv.Atoi(last)
		case !hasStep:
			to = from
		}
		if err != nil || from < low || to > high || from > to {
			return 0, false
		}
	}
	if hasStep {
		n, err := strconv.Atoi(stepText)
		if err != nil || n < 1 || n > high {
			return 0, false
		}
		step = n
	}
	for v := from; v <= to; v += step {
		values |= 1 << v
	}
	return values, true
}

// next returns the first time after a time, to the minute; zero if there is none within eight
// years, in which every day of every month occurs.
func (c cron) next(after time.Time) time.Time {
	const longest = 8*366 + 1 // days
	after = after.UTC()
	date := time.Date(after.Year(), after.Month(), after.Day(), 0, 0, 0, 0, time.UTC)
	earliest := after.Hour()*60 + after.Minute() + 1 // minute of the day
	for range longest {
		if c.hasDay(date) {
			if minute := c.nextMinute(earliest); minute >= 0 {
				return date.Add(time.Duration(minute) * time.Minute)
			}
		}
		date, earliest = date.AddDate(0, 0, 1), 0
	}
	return time.Time{}
}

// hasDay reports whether the expression has a day. As in cron, a day of the month and a day of the
// week that are both restricted are alternatives.
func (c cron) hasDay(date time.Time) bool {
	day, weekday := c.days&(1<<date.Day()) != 0, c.weekdays&(1<<int(date.Weekday())) != 0
	if c.months&(1<<int(date.Month())) == 0 {
		return false
	}
	if c.everyDay || c.everyWeekday {
		return day && weekday
	}
	return day || weekday
}

// nextMinute returns the first minute of a day that is not before another one; -1 if there is none.
func (c cron) nextMinute(earliest int) int {
	for hour := earliest / 60; hour < 24; hour++ {
		if c.hours&(1<<hour) != 0 {
			minutes := c.minutes &^ (1<<max(earliest-hour*60, 0) - 1)
			if minutes != 0 {
				return hour*60 + bits.TrailingZeros64(minutes)
			}
		}
	}
	return -1
}
