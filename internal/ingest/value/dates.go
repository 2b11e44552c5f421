package value

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/text"
)

// maxClocks is the maximum number of formats of the time of day in one column, such as with and
// without seconds and fractions.
const maxClocks = 4

// dates recognizes columns of dates and datetimes. It collects the notations that the dates have,
// also after they have none in common.
type dates struct {
	count            int       // values
	notISO           bool      // some value is not in standard notation
	firstISO         string    // the first date in standard notation
	dates, withClock int       // dates; datetimes
	zoned, unzoned   int       // datetimes in standard notation, until notISO
	sets             []datesOf // of all dates, if notISO
	common           dateSet   // notations that all dates have, if notISO
	single           string    // compactFormat or periodFormat of all values; empty: no value has one
	notYears         bool      // some period is not like two consecutive years, as 2011-12 is
	clocks           []string  // different formats of the time of day, each with the separator after the date
	buf              []byte    // buffer of cutClock
	centuryAmbiguous bool      // some year of two digits is in a range that programs assign to different centuries
	isUnclear        bool      // the dates have too many sets of notations
}

// observe adds a value. isTime reports whether it is a date, a period or a datetime, and fits
// whether it has the notation of the others. isDate reports whether it is a date in standard
// notation.
func (t *dates) observe(v []byte, isDate bool) (isTime, fits bool) {
	if len(v) < minTime || len(v) > maxTime {
		return false, false
	}
	t.count++
	if isDate && !t.notISO {
		t.addISO(v)
		t.dates++
		return true, true
	}
	date, clock := cutClock(v, t.buf)
	if clock != nil {
		t.buf = clock
	}
	zoned, isISO := text.ScanDateTime(v)
	if isISO && !t.notISO {
		t.addISO(date)
		t.withClock++
		if clock != nil {
			t.addClock(clock)
		}
		if zoned {
			t.zoned++
		} else {
			t.unzoned++
		}
		return true, true
	}
	if single := cmp.Or(compactFormat(v), periodFormat(v)); clock == nil && single != "" {
		return true, t.addSingle(v, single)
	}
	set, isLong := notationsOf(date)
	if set == 0 {
		t.count--
		return isISO, false
	}
	t.leaveISO()
	isKnown := true
	if clock == nil {
		t.dates++
	} else {
		isKnown = t.addClock(clock)
		t.withClock++
	}
	if !isLong {
		t.observeShortYear(date)
	}
	t.addDate(date, set, isLong)
	return true, isKnown && t.single == "" && t.common != 0
}

// addISO keeps the first date in standard notation.
func (t *dates) addISO(date []byte) {
	if t.firstISO == "" {
		t.firstISO = string(date)
	}
}

// leaveISO notes that some value is not in standard notation.
func (t *dates) leaveISO() {
	if !t.notISO && t.firstISO != "" {
		set, _ := notationsOf([]byte(t.firstISO))
		t.addDate([]byte(t.firstISO), set, true)
	}
	t.notISO = true
}

// addSingle adds a datetime without separators or a period. It returns false if not all values have
// its notation.
func (t *dates) addSingle(v []byte, single string) bool {
	t.leaveISO()
	if t.count == 1 {
		t.single = single
	}
	t.notYears = t.notYears || single != "%Y-%m" || !areYears(v)
	if strings.HasSuffix(single, "%y") {
		t.observeShortYear(v)
	}
	return t.single == single
}

// areYears reports whether a month is written as two consecutive years may be: 2011-12 is a season.
func areYears(month []byte) bool {
	year, _ := strconv.Atoi(string(month[2:4]))
	next, _ := strconv.Atoi(string(month[5:7]))
	return next == (year+1)%100
}

// observeShortYear adds the year of a date that ends with two digits of it.
func (t *dates) observeShortYear(date []byte) {
	year := string(date[len(date)-2:])
	t.centuryAmbiguous = t.centuryAmbiguous || year >= "30" && year < "69"
}

// addClock adds the format of a time of day. ok is false if the column has more than maxClocks
// formats, or clocks of both 12 and 24 hours.
func (t *dates) addClock(clock []byte) (ok bool) {
	isEqual := func(c string) bool { return c == string(clock) }
	if !slices.ContainsFunc(t.clocks, isEqual) && len(t.clocks) <= maxClocks {
		t.clocks = append(t.clocks, string(clock))
	}
	return len(t.clocks) <= maxClocks && strings.Contains(t.clocks[0], "%p") == bytes.Contains(clock, []byte("%p"))
}

// hasClock reports whether some values are datetimes.
func (t *dates) hasClock() bool {
	return t.zoned+t.unzoned+len(t.clocks) > 0 || strings.Contains(t.single, "%H")
}

// arePeriods reports whether all values are months, quarters or weeks.
func (t *dates) arePeriods() bool { return t.single != "" && !t.hasClock() }

// format returns the date format of all values, empty for the standard notation. If there is more
// than one and other columns do not decide, why says so.
func (t *dates) format(shown *conventions) (format, why string) {
	switch {
	case !t.notISO && t.zoned > 0 && t.unzoned+t.dates > 0, t.notISO && t.mixesZones():
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
		return "", "dates are ambiguous: day/month/year or month/day/year; declare the format %d/%m/%Y or %m/%d/%Y " +
			"with the separator of the values"
	}
	isLong, isShort := false, false
	for _, d := range t.sets {
		isLong, isShort = isLong || d.long, isShort || d.short
	}
	return t.withClocks(written(date, isLong, isShort)), ""
}

// written returns the formats of dates in a notation of which some have four digits of the year, or
// two.
func written(f dateFormat, isLong, isShort bool) (formats []string) {
	if isLong {
		formats = append(formats, f.Long)
	}
	if isShort {
		formats = append(formats, f.Short)
	}
	return formats
}

// withClocks returns the date format of datetimes, or of dates if no value has a time of day.
func (t *dates) withClocks(dates []string) string {
	if len(t.clocks) == 0 {
		return strings.Join(dates, text.DateFormatSeparator)
	}
	var all []string
	for _, date := range dates {
		for _, clock := range t.clocks {
			all = append(all, date+clock)
		}
	}
	return strings.Join(all, text.DateFormatSeparator)
}

// mixesZones reports whether some times of day have a zone and some have none.
func (t *dates) mixesZones() bool {
	zoned := 0
	for _, clock := range t.clocks {
		if strings.HasSuffix(clock, "%z") {
			zoned++
		}
	}
	return zoned > 0 && zoned < len(t.clocks)
}

// dateFormats returns the formats that all dates have, if some date is not in standard notation.
func (t *dates) dateFormats() (formats []dateFormat) {
	for i, f := range dateFormats() {
		if t.common.has(i) {
			formats = append(formats, f)
		}
	}
	return formats
}

// dateFormat returns the format of the dates, without times of day. Of several, it is the one that
// other columns show. Dates with points begin with the day unless a value rules it out. ok is false
// if neither decides.
func (t *dates) dateFormat(shown *conventions) (format dateFormat, ok bool) {
	formats := t.dateFormats()
	if len(formats) == 1 || strings.HasPrefix(formats[0].Long, "%d.") {
		return formats[0], true
	}
	return shown.dateFormat(formats)
}
