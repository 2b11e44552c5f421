package profile

import (
	"math/bits"

	"herbarium/internal/text"
)

// layouts are the notations of dates other than ISO 8601 that are inferred.
var layouts = [...]string{
	"%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d.%m.%Y", "%m.%d.%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y-%m-%d", "%d/%m/%y", "%m/%d/%y",
	"%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y", "%b %d %Y",
}

// times recognizes columns of dates and datetimes.
type times struct {
	notISO           bool // some value is not in standard notation
	dates            int  // in standard notation
	zoned, unzoned   int  // datetimes in standard notation
	layouts          uint32
	centuryAmbiguous bool // some year of two digits is read differently by different programs
}

// layoutISO is the bit of the layout of dates in standard notation, in which zeros may be missing.
const layoutISO = 1 << 8

// observe reports whether the column may still be one of dates or datetimes.
func (t *times) observe(k kind, v []byte) bool {
	if k == kindDate {
		t.dates++
		t.layouts &= layoutISO
		return !t.notISO || t.layouts != 0
	}
	if k != kindText || len(v) < len("1/1/24") || len(v) > len("2006-01-02T15:04:05.000000000 +00:00") {
		return false
	}
	if !t.notISO {
		if clock, zoned, ok := text.ScanDateTime(v); ok && clock {
			if zoned {
				t.zoned++
			} else {
				t.unzoned++
			}
			t.layouts = 0
			return true
		}
		t.notISO = true
	}
	if t.zoned+t.unzoned > 0 {
		return false
	}
	for set := t.layouts; set != 0; set &= set - 1 {
		i := bits.TrailingZeros32(set)
		if !text.MatchesLayout(layouts[i], v) {
			t.layouts &^= 1 << i
		} else if layout := layouts[i]; layout[len(layout)-1] == 'y' {
			year := string(v[len(v)-2:])
			t.centuryAmbiguous = t.centuryAmbiguous || year >= "30" && year < "69"
		}
	}
	return t.layouts != 0
}

// layout returns the only layout of the values; empty means the standard notation. why is not empty if there is none.
func (t *times) layout() (layout string, clock bool, why string) {
	clock = t.zoned+t.unzoned > 0
	switch {
	case !t.notISO && t.zoned > 0 && t.unzoned+t.dates > 0:
		return "", clock, "some times have a zone and some have none"
	case !t.notISO:
		return "", clock, ""
	case bits.OnesCount32(t.layouts) > 1:
		return "", false, "dates are ambiguous: day/month/year or month/day/year"
	case t.centuryAmbiguous:
		return "", false, "years of two digits from 30 to 68 are ambiguous"
	default:
		return layouts[bits.TrailingZeros32(t.layouts)], false, ""
	}
}
