package herb

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// Keep says which versions of a dataset are kept when another one goes live. A version is kept if
// one of the members says so, or if it has a label.
type Keep struct {
	Versions int           `json:",omitempty"` // the newest ones, including the live one
	For      time.Duration `json:",omitempty"` // those that were published within this time, or KeepNoLonger
}

// KeepNoLonger states that versions are kept by their number alone, also if another Keep has a
// time.
const KeepNoLonger time.Duration = -1

// Or returns k with the members of another Keep where its own are zero.
func (k Keep) Or(other Keep) Keep {
	return Keep{cmp.Or(k.Versions, other.Versions), cmp.Or(k.For, other.For)}
}

// periodUnits are the units of periods, longest first.
var periodUnits = []struct {
	name string
	unit time.Duration
}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}

// longestPeriod is the longest period.
const longestPeriod = 100 * 365 * 24 * time.Hour

// ParsePeriod parses a period of time such as 30m, 12h, 90d or 8w, of at most a hundred years.
func ParsePeriod(s string) (_ time.Duration, ok bool) {
	for _, u := range periodUnits {
		if number, ok := strings.CutSuffix(s, u.name); ok {
			n, err := strconv.Atoi(number)
			return time.Duration(n) * u.unit, err == nil && n >= 1 && n <= int(longestPeriod/u.unit)
		}
	}
	return 0, false
}

// FormatPeriod formats a period in the longest unit that divides it, up to days.
func FormatPeriod(d time.Duration) string {
	for _, u := range periodUnits[1:] {
		if d%u.unit == 0 {
			return strconv.FormatInt(int64(d/u.unit), 10) + u.name
		}
	}
	return d.String()
}
