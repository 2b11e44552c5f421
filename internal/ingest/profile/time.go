package profile

import (
	"slices"
	"strings"

	"herbarium/internal/text"
)

// layouts returns the notations of dates and datetimes that are inferred beside the standard ones.
func layouts() []string {
	return []string{
		"%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d.%m.%Y", "%m.%d.%Y", "%Y/%m/%d", "%Y.%m.%d", "%d/%m/%y", "%m/%d/%y",
		"%d.%m.%y", "%m.%d.%y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y", "%b %d %Y", "%a %b %d %Y", "%Y-%m-%d", "%Y%m%dT%H%M%S",
	}
}

// matches reports whether a value has a layout. Without leading zeros, 1.2.24 is a version rather than a date.
func matches(layout string, v []byte) bool {
	return text.MatchesLayout(layout, v) && (len(v) == len("31.12.24") || !strings.HasSuffix(layout, ".%y"))
}

// times recognizes columns of dates and datetimes.
type times struct {
	notISO           bool     // some value is not in standard notation
	dates            int      // in standard notation
	zoned, unzoned   int      // datetimes in standard notation
	layouts          []string // in which all values are dates or datetimes, if they are not in standard notation
	centuryAmbiguous bool     // some year of two digits is read differently by different programs
}

// observe reports whether the column may still be one of dates or datetimes. isDate reports whether the value is a date in
// standard notation.
func (t *times) observe(v []byte, isDate bool) bool {
	if len(v) < len("1/1/24") || len(v) > len("2006-01-02T15:04:05.000000000 +00:00") {
		return false
	}
	if !t.notISO {
		if isDate {
			t.dates++
			return true
		}
		switch _, zoned, ok := text.ScanDateTime(v); {
		case ok && zoned:
			t.zoned++
			return true
		case ok:
			t.unzoned++
			return true
		case t.hasClock():
			return false
		case t.dates > 0:
			t.layouts = []string{"%Y-%m-%d"} // zeros are missing
		}
		t.notISO = true
	}
	t.layouts = slices.DeleteFunc(t.layouts, func(layout string) bool { return !matches(layout, v) })
	if len(t.layouts) > 0 && strings.HasSuffix(t.layouts[0], "y") {
		year := string(v[len(v)-2:])
		t.centuryAmbiguous = t.centuryAmbiguous || year >= "30" && year < "69"
	}
	return len(t.layouts) > 0
}

// hasClock reports whether some values are datetimes.
func (t *times) hasClock() bool {
	return t.zoned+t.unzoned > 0 || len(t.layouts) > 0 && strings.Contains(t.layouts[0], "%M")
}

// layout returns the only layout of the values; empty means the standard notation. why is not empty if there is none.
func (t *times) layout() (layout, why string) {
	switch {
	case !t.notISO && t.zoned > 0 && t.unzoned+t.dates > 0:
		return "", "some times have a zone and some have none"
	case !t.notISO:
		return "", ""
	case len(t.layouts) > 1:
		return "", "dates are ambiguous: day/month/year or month/day/year"
	case t.centuryAmbiguous:
		return "", "years of two digits from 30 to 68 are ambiguous"
	default:
		return t.layouts[0], ""
	}
}
