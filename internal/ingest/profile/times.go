package profile

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/ingest/kind"
	"herbarium/internal/text"
)

// maxClocks is the maximum number of formats of the time of day in one column, such as with and
// without seconds and fractions.
const maxClocks = 4

// times recognizes columns of dates and datetimes.
type times struct {
	count            int               // values
	notISO           bool              // some value is not in standard notation
	dates            int               // values without a time of day
	zoned, unzoned   int               // datetimes in standard notation
	formats          []kind.DateFormat // formats that all dates so far match, if notISO
	long, short      int               // dates that match formats, with four and with two digits of the year
	single           string            // kind.CompactFormat or kind.PeriodFormat of all values; empty: no value has one
	notYears         bool              // some period is not like two consecutive years, as 2011-12 is
	clocks           []string          // different formats of the time of day, each with the separator after the date
	buf              []byte            // buffer of kind.CutClock
	centuryAmbiguous bool              // some year of two digits is in a range that programs assign to different centuries
}

// observe adds a date or a datetime. It returns false, and changes nothing, if v is neither in the
// notation of the others. isDate reports whether the value is a date in standard notation.
func (t *times) observe(v []byte, isDate bool) bool {
	if len(v) < kind.MinTime || len(v) > kind.MaxTime {
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
	date, clock := kind.CutClock(v, t.buf)
	if clock != nil {
		t.buf = clock
	}
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
		if t.long = t.dates + t.unzoned + t.zoned; t.long > 0 {
			t.formats = []kind.DateFormat{{Long: "%Y-%m-%d"}} // zeros are missing
		} else {
			all := kind.DateFormats()
			t.formats = all[:]
		}
	}
	if single := cmp.Or(kind.CompactFormat(v), kind.PeriodFormat(v)); clock == nil && single != "" {
		if t.count == 1 {
			t.single = single
		}
		t.notYears = t.notYears || single != "%Y-%m" || !areYears(v)
		if strings.HasSuffix(single, "%y") {
			t.observeShortYear(v)
		}
		return t.single == single
	}
	if clock == nil {
		t.dates++
	}
	return isKnown && t.single == "" && t.observeDate(date)
}

// areYears reports whether a month is written as two consecutive years may be: 2011-12 is a season.
func areYears(month []byte) bool {
	year, _ := strconv.Atoi(string(month[2:4]))
	next, _ := strconv.Atoi(string(month[5:7]))
	return next == (year+1)%100
}

// observeShortYear adds the year of a date that ends with two digits of it.
func (t *times) observeShortYear(date []byte) {
	year := string(date[len(date)-2:])
	t.centuryAmbiguous = t.centuryAmbiguous || year >= "30" && year < "69"
}

// observeDate removes the formats that a date does not match. It returns false if none is left.
func (t *times) observeDate(date []byte) bool {
	isLong := false
	t.formats = without(t.formats, func(l kind.DateFormat) bool {
		isLong = isLong || text.MatchesDateFormat(l.Long, date)
		return !text.MatchesDateFormat(l.Long, date) && !l.IsShort(date)
	})
	switch {
	case len(t.formats) == 0:
		return false
	case isLong:
		t.long++
	default:
		t.short++
		t.observeShortYear(date)
	}
	return true
}

// addClock adds the format of a time of day. ok is false if the column has more than maxClocks
// formats, or clocks of both 12 and 24 hours.
func (t *times) addClock(clock []byte) (ok bool) {
	isEqual := func(c string) bool { return c == string(clock) }
	if !slices.ContainsFunc(t.clocks, isEqual) && len(t.clocks) <= maxClocks {
		t.clocks = append(t.clocks, string(clock))
	}
	return len(t.clocks) <= maxClocks && strings.Contains(t.clocks[0], "%p") == bytes.Contains(clock, []byte("%p"))
}

// hasClock reports whether some values are datetimes.
func (t *times) hasClock() bool {
	return t.zoned+t.unzoned+len(t.clocks) > 0 || strings.Contains(t.single, "%H")
}

// arePeriods reports whether all values are months, quarters or weeks.
func (t *times) arePeriods() bool { return t.single != "" && !t.hasClock() }

// format returns the date format of all values, empty for the standard notation. If there is more
// than one and other columns do not decide, why says so.
func (t *times) format(shown *conventions) (format, why string) {
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
	case t.single != "" && !t.notYears:
		return "", "values such as 2011-12 may be months or two years; declare the type yearmonth if they are months"
	case t.centuryAmbiguous:
		return "", "years of two digits from 30 to 68 are ambiguous"
	case t.single != "":
		return t.single, ""
	case t.hasClock() && t.dates > 0:
		return "", "some dates have a time of day and some have none"
	}
	date, ok := t.dateFormat(shown)
	if !ok {
		return "", "dates are ambiguous: day/month/year or month/day/year; declare the format %d/%m/%Y or %m/%d/%Y with the separator of the values"
	}
	var written, all []string
	if t.long > 0 {
		written = append(written, date.Long)
	}
	if t.short > 0 {
		written = append(written, date.Short)
	}
	for _, date := range written {
		if len(t.clocks) == 0 {
			all = append(all, date)
		}
		for _, clock := range t.clocks {
			all = append(all, date+clock)
		}
	}
	return strings.Join(all, text.DateFormatSeparator), ""
}

// dateFormat returns the format of the dates, without times of day. Of several, it is the one that
// other columns show. Dates with points begin with the day unless a value rules it out. ok is false
// if neither decides.
func (t *times) dateFormat(shown *conventions) (format kind.DateFormat, ok bool) {
	if len(t.formats) == 1 || strings.HasPrefix(t.formats[0].Long, "%d.") {
		return t.formats[0], true
	}
	return shown.dateFormat(t.formats)
}
