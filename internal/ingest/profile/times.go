package profile

import (
	"bytes"
	"slices"
	"strings"

	"herbarium/internal/text"
)

// dateLayout is a notation of dates that is inferred beside ISO 8601.
type dateLayout struct {
	long  string // with four digits of the year
	short string // with two digits of the year; empty: not inferred
}

// dateLayouts returns the notations of dates that are inferred, alone or before a time of day.
func dateLayouts() []dateLayout {
	return []dateLayout{
		{"%d/%m/%Y", "%d/%m/%y"}, {"%m/%d/%Y", "%m/%d/%y"}, {"%d.%m.%Y", "%d.%m.%y"}, {"%m.%d.%Y", "%m.%d.%y"},
		{"%d-%b-%Y", "%d-%b-%y"}, {"%d-%m-%Y", ""}, {"%m-%d-%Y", ""}, {"%Y/%m/%d", ""}, {"%Y.%m.%d", ""}, {"%Y-%m-%d", ""},
		{"%d %b %Y", ""}, {"%b %d, %Y", ""}, {"%b %d %Y", ""}, {"%a %b %d %Y", ""},
	}
}

// compactLayout is the notation of datetimes without separators.
const compactLayout = "%Y%m%dT%H%M%S"

// maxClocks is the number of notations of the time of day in one column: with and without seconds
// and fractions.
const maxClocks = 4

// times recognizes columns of dates and datetimes.
type times struct {
	count            int          // values
	notISO           bool         // some value is not in standard notation
	dates            int          // values without a time of day
	zoned, unzoned   int          // datetimes in standard notation
	layouts          []dateLayout // in which all dates are written, unless they are in standard notation
	long, short      int          // such dates with four and with two digits of the year
	compact          int          // values in compactLayout
	clocks           []string     // notations of the time of day that occur, with what separates it from the date
	buf              []byte       // of cutClock
	centuryAmbiguous bool         // some year of two digits is read differently by different programs
}

// observe adds a date or a datetime. It returns false, and changes nothing, if v is neither in the
// notation of the others. isDate reports whether the value is a date in standard notation.
func (t *times) observe(v []byte, isDate bool) bool {
	if len(v) < len("1/1/24") || len(v) > maxTime {
		return false
	}
	before := *t
	if t.add(v, isDate) {
		return true
	}
	before.buf = t.buf
	*t = before
	return false
}

func (t *times) add(v []byte, isDate bool) bool {
	t.count++
	if !t.notISO && isDate {
		t.dates++
		return true
	}
	date, clock := t.cutClock(v)
	isKnown := clock == nil || t.addClock(clock)
	if !t.notISO {
		switch zoned, ok := text.ScanDateTime(v); {
		case ok && zoned:
			t.zoned++
			return true
		case ok:
			t.unzoned++
			return true
		}
		t.notISO = true
		if t.layouts = dateLayouts(); t.dates+t.unzoned+t.zoned > 0 {
			t.layouts = []dateLayout{{"%Y-%m-%d", ""}} // zeros are missing
			t.long = t.dates + t.unzoned + t.zoned
		}
	}
	if clock == nil && text.MatchesLayout(compactLayout, v) {
		t.compact++
		return t.compact == t.count
	}
	if clock == nil {
		t.dates++
	}
	return isKnown && t.compact == 0 && t.observeDate(date)
}

// observeDate reports whether the dates may still have one notation.
func (t *times) observeDate(date []byte) bool {
	isLong := false
	t.layouts = without(t.layouts, func(l dateLayout) bool {
		isLong = isLong || text.MatchesLayout(l.long, date)
		return !text.MatchesLayout(l.long, date) && !isShort(l, date)
	})
	switch {
	case len(t.layouts) == 0:
		return false
	case isLong:
		t.long++
	default:
		t.short++
		year := string(date[len(date)-2:])
		t.centuryAmbiguous = t.centuryAmbiguous || year >= "30" && year < "69"
	}
	return true
}

// isShort reports whether a date has two digits of the year. Without leading zeros, 1.2.24 is a
// version rather than a date.
func isShort(l dateLayout, date []byte) bool {
	return l.short != "" && text.MatchesLayout(l.short, date) && (len(date) == len("31.12.24") || !strings.HasSuffix(l.short, ".%y"))
}

// addClock adds the notation of a time of day. ok is false if there are too many, or some have 12
// hours and others 24.
func (t *times) addClock(clock []byte) (ok bool) {
	isEqual := func(c string) bool { return c == string(clock) }
	if !slices.ContainsFunc(t.clocks, isEqual) && len(t.clocks) <= maxClocks {
		t.clocks = append(t.clocks, string(clock))
	}
	return len(t.clocks) <= maxClocks && strings.Contains(t.clocks[0], "%p") == bytes.Contains(clock, []byte("%p"))
}

// hasClock reports whether some values are datetimes.
func (t *times) hasClock() bool { return t.zoned+t.unzoned+t.compact+len(t.clocks) > 0 }

// layout returns the only notation of the values, in the form of herb.Notation; empty means the
// standard notation. why is not empty if there is none.
func (t *times) layout() (layout, why string) {
	zoned := 0
	for _, clock := range t.clocks {
		if strings.HasSuffix(clock, "%z") {
			zoned++
		}
	}
	switch {
	case !t.notISO && t.zoned > 0 && t.unzoned+t.dates > 0, t.notISO && zoned > 0 && zoned < len(t.clocks):
		return "", "some times have a zone and some have none"
	case !t.notISO:
		return "", ""
	case t.compact > 0:
		return compactLayout, ""
	case t.hasClock() && t.dates > 0:
		return "", "some dates have a time of day and some have none"
	case len(t.layouts) > 1:
		return "", "dates are ambiguous: day/month/year or month/day/year"
	case t.centuryAmbiguous:
		return "", "years of two digits from 30 to 68 are ambiguous"
	}
	var dates, all []string
	if t.long > 0 {
		dates = append(dates, t.layouts[0].long)
	}
	if t.short > 0 {
		dates = append(dates, t.layouts[0].short)
	}
	for _, date := range dates {
		if len(t.clocks) == 0 {
			all = append(all, date)
		}
		for _, clock := range t.clocks {
			all = append(all, date+clock)
		}
	}
	return strings.Join(all, text.LayoutSeparator), ""
}

// maxTime is the length of the longest value that is a datetime.
const maxTime = len("Wednesday, September 30, 2020, 10:00:00.000000000 PM +00:00")

// cutClock splits a value into a date and the notation of the time of day after it, which begins
// with what separates them. The notation is empty if there is no time of day, or none that is
// valid. It is valid until the next call.
func (t *times) cutClock(v []byte) (date, notation []byte) {
	colon := bytes.IndexByte(v, ':')
	if colon < len("1/1/24 1") {
		return v, nil
	}
	hour := colon
	for isDigit(v[hour-1]) && hour > colon-2 {
		hour--
	}
	end := hour
	for hour-end < 2 && (v[end-1] == ' ' || v[end-1] == ',' || v[end-1] == 'T' && hour == end) {
		end--
	}
	if end == hour || hour == colon {
		return v, nil
	}
	var ok bool
	if t.buf, ok = text.AppendClockLayout(append(t.buf[:0], v[end:hour]...), v[hour:]); !ok {
		return v, nil
	}
	return v[:end], t.buf
}
