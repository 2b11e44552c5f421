package value

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/roles"
	"herbarium/internal/text"
)

// clocks recognizes columns of times of day and durations that are written as clocks.
type clocks struct {
	count     int // values
	halves    int // times with am or pm
	twoParts  int // such as 6:00, which is hours and minutes or minutes and seconds
	fractions int // such as 4:05.3, which is minutes and seconds

	isBeyond    bool   // some clock of three parts is not a time of day, such as 25:10:00
	firstTwo    string // first value of two parts, or the first that is not a time of day
	isTwoBeyond bool   // firstTwo is not a time of day

	zoned      int // times of day with a zone, which are not observed
	firstZoned string
}

// maxClock is the length of the longest value that is inferred to be a time or a duration.
const maxClock = 64

// observe adds a time of day or a duration. It returns false if v is neither.
func (c *clocks) observe(v []byte) bool {
	if !mayBeClock(v) {
		return false
	}
	isTime := canonicalStatus(herb.TypeTime, herb.Notation{}, string(v)) == text.Valid
	isPlain := len(bytes.Trim(v, "+-0123456789:.,")) == 0
	isDuration := isPlain && canonicalStatus(herb.TypeDuration, herb.Notation{}, string(v)) == text.Valid
	switch {
	case isTime && !isPlain:
		c.halves++
	case isDuration && bytes.Count(v, []byte{':'}) == 1:
		c.twoParts++
		if c.twoParts == 1 || !isTime && !c.isTwoBeyond {
			c.firstTwo, c.isTwoBeyond = string(v), !isTime
		}
	case isDuration, isTime: // also 23:59:60
		c.isBeyond = c.isBeyond || !isTime || bytes.HasPrefix(v, []byte("24"))
	case isPlain && canonicalStatus(herb.TypeDuration, herb.Notation{DateFormat: text.MinutesSeconds},
		string(v)) == text.Valid:
		c.fractions++
	default:
		c.observeZoned(v)
		return false
	}
	c.count++
	return true
}

// mayBeClock reports whether a value begins as times and durations do. It takes little time for
// numbers, dates and texts.
func mayBeClock(v []byte) bool {
	if len(v) < len("9am") || len(v) > maxClock {
		return false
	}
	v = bytes.TrimLeft(v, "+-")
	n := 0
	for n < len(v) && isDigit(v[n]) {
		n++
	}
	return 0 < n && n < len(v) && strings.IndexByte(": apAP", v[n]) >= 0
}

// observeZoned counts a time of day with a zone.
func (c *clocks) observeZoned(v []byte) {
	clock, ok := bytes.CutSuffix(v, []byte("Z"))
	if !ok {
		clock = v[:max(bytes.LastIndexAny(v, "+-"), 0)]
	}
	if canonicalStatus(herb.TypeTime, herb.Notation{}, string(clock)) == text.Valid {
		c.zoned++
		if c.zoned == 1 {
			c.firstZoned = string(v)
		}
	}
}

// result returns the type of all values and its format. why says why the values have more than one
// reading. name is the name of the column.
func (c *clocks) result(name string) (t herb.Type, format, why string) {
	const declare = "declare the type duration, with the format " + text.MinutesSeconds +
		" for minutes and seconds, or the type time"
	isScores, isLength := roles.Of(name) == roles.Result, roles.Of(name) == roles.Length
	name = strings.ToLower(name)
	isMinutes := !strings.Contains(name, "hh:mm") && nameContains(name, "mm:ss", "m:ss", "mm_ss", "min:sec", "min_sec")
	isHours := !isMinutes && nameContains(name, "hh:mm", "h:mm", "hh_mm")
	isMixed := c.twoParts > 0 && c.twoParts < c.count
	switch {
	case c.twoParts == c.count && isScores:
		return "", "", "its name says results or ratios rather than times; " + declare
	case c.halves == c.count:
		return herb.TypeTime, "", ""
	case c.halves > 0:
		return "", "", "some times have am or pm and some have none"
	case c.fractions > 0, c.twoParts > 0 && isMinutes:
		return herb.TypeDuration, text.MinutesSeconds, ""
	case c.twoParts > 0 && isHours && (isMixed || c.isTwoBeyond || isLength):
		return herb.TypeDuration, "", ""
	case c.isTwoBeyond, isMixed, c.twoParts > 0 && isLength:
		first, second, _ := strings.Cut(c.firstTwo, ":")
		return "", "", fmt.Sprintf("%q is %s hours and %s minutes or %s minutes and %s seconds; %s", c.firstTwo, first,
			second, first, second, declare)
	case c.isBeyond, isLength:
		return herb.TypeDuration, "", ""
	}
	return herb.TypeTime, "", ""
}

func nameContains(name string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}

// fits reports whether all values are of a type in its standard notation.
func (c *clocks) fits(t herb.Type) bool {
	if t == herb.TypeTime {
		return !c.isBeyond && !c.isTwoBeyond && c.fractions == 0
	}
	return c.halves+c.fractions == 0
}

// reason says why most values of a text column are times that are not read, or returns "". values
// is the number of values of the column.
func (c *clocks) reason(values int) string {
	if c.zoned > 0 && 2*(c.zoned+c.count) >= values {
		return fmt.Sprintf("times of day with a zone, such as %q, are kept as text: without a date they have no order",
			c.firstZoned)
	}
	return ""
}
