package text

import (
	"bytes"
	"strings"

	"herbarium/internal/herb"
)

// expandLayout replaces abbreviations of directives by the directives.
var expandLayout = strings.NewReplacer("%F", "%Y-%m-%d", "%T", "%H:%M:%S", "%R", "%H:%M", "%D", "%m/%d/%y", "%B", "%b", "%h", "%b",
	"%e", "%d", "%A", "%a", "%-d", "%d", "%-m", "%m", "%-H", "%H", "%-I", "%I")

// ParseLayout returns the layout of dates or datetimes in the form that Notation has. A layout consists of strptime
// directives and other characters. It is rejected if it has an unsupported directive or does not determine values of the
// type.
func ParseLayout(t herb.Type, layout string) (string, error) {
	layout = expandLayout.Replace(layout)
	seen := map[byte]bool{}
	for i := 0; i < len(layout); i++ {
		if layout[i] != '%' {
			continue
		}
		if i++; i == len(layout) || strings.IndexByte("YymbdHIMSfpzZa%", layout[i]) < 0 {
			return "", herb.Invalidf("layout %q has an unsupported directive; use %%Y %%y %%m %%b %%d %%H %%I %%M %%S %%f %%p %%z", layout)
		}
		seen[layout[i]] = true
	}
	date := (seen['Y'] || seen['y']) && (seen['m'] || seen['b']) && seen['d']
	clock := (seen['H'] || seen['I'] && seen['p']) && seen['M']
	if !date || t == herb.TypeDateTime && !clock || t == herb.TypeDate && (seen['H'] || seen['I']) {
		return "", herb.Invalidf("layout %q does not describe a %s; write it as in %%d/%%m/%%Y or %%Y-%%m-%%d %%H:%%M", layout, t)
	}
	return layout, nil
}

// MatchesLayout reports whether v is a date or datetime written in a layout of ParseLayout.
func MatchesLayout(layout string, v []byte) bool {
	_, ok := parseLayout(layout, v)
	return ok
}

// parseLayout parses a date or datetime. Leading zeros may be left out of every number but the year.
func parseLayout(layout string, v []byte) (m moment, ok bool) {
	pm := -1 // 0 for AM, 1 for PM
	for i := 0; i < len(layout); i++ {
		if layout[i] != '%' || i+1 == len(layout) {
			if len(v) == 0 || v[0] != layout[i] {
				return m, false
			}
			v = v[1:]
			continue
		}
		i++
		if v, ok = m.cutDirective(layout[i], v, &pm); !ok {
			return m, false
		}
	}
	switch {
	case pm >= 0 && (m.hour == 0 || m.hour > 12):
		return m, false
	case pm >= 0:
		m.hour = m.hour%12 + 12*pm
	}
	return m, len(v) == 0 && m.isValid()
}

// cutDirective parses what one directive describes at the start of v.
func (m *moment) cutDirective(directive byte, v []byte, pm *int) (rest []byte, ok bool) {
	least, most := 1, 2
	var to *int
	switch directive {
	case 'Y':
		to, least, most = &m.year, 4, 4
	case 'y':
		to, least = &m.year, 2
	case 'm':
		to = &m.month
	case 'd':
		to = &m.day
	case 'H', 'I':
		to, m.clock = &m.hour, true
	case 'M':
		to = &m.minute
	case 'S':
		to = &m.second
	case 'f':
		n := digitCount(v)
		return v[n:], m.setFraction(v[:n])
	case 'b':
		m.month, v = cutName(v, "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
		return v, m.month > 0
	case 'a':
		day, rest := cutName(v, "mon", "tue", "wed", "thu", "fri", "sat", "sun")
		return rest, day > 0
	case 'p':
		half, rest := cutName(v, "am", "pm")
		*pm = half - 1
		return rest, half > 0
	case 'z', 'Z':
		n := bytes.IndexByte(v, ' ')
		if n <= 0 {
			n = len(v)
		}
		return v[n:], m.setZone(v[:n])
	case '%':
		return bytes.CutPrefix(v, []byte{'%'})
	}
	n := min(digitCount(v), most)
	if to == nil || n < least {
		return v, false
	}
	if *to = number(v[:n]); directive == 'y' {
		m.year += 1900
		if m.year < 1969 { // as POSIX has it
			m.year += 100
		}
	}
	return v[n:], true
}

// longNames are the English names of months and days that begin with their abbreviation.
const longNames = " january february march april may june july august september october november december sept " +
	"monday tuesday wednesday thursday friday saturday sunday tues wedn thur thurs "

// cutName parses one of the names, its full form or its abbreviation in any case, and returns its number from 1. The
// number is 0 if v begins with none of them.
func cutName(v []byte, names ...string) (number int, rest []byte) {
	n := 0
	for n < len(v) && (v[n]|0x20 >= 'a' && v[n]|0x20 <= 'z') {
		n++
	}
	if n < 2 || n > len("september") {
		return 0, v
	}
	word := strings.ToLower(string(v[:n]))
	for i, name := range names {
		if word == name || strings.HasPrefix(word, name) && strings.Contains(longNames, " "+word+" ") {
			return i + 1, v[n:]
		}
	}
	return 0, v
}
