package text

import (
	"bytes"
	"strings"

	"herbarium/internal/herb"
)

// expandDateFormat replaces abbreviations of directives by the directives.
var expandDateFormat = strings.NewReplacer("%F", "%Y-%m-%d", "%T", "%H:%M:%S", "%R", "%H:%M", "%D", "%m/%d/%y", "%B",
	"%b", "%h", "%b",
	"%e", "%d", "%A", "%a", "%-d", "%d", "%-m", "%m", "%-H", "%H", "%-I", "%I")

// DateFormatSeparator separates the alternatives of a date format, such as %d/%m/%Y|%d/%m/%y. A
// value has the first one that it matches.
const DateFormatSeparator = "|"

// ParseDateFormat returns a date format in the form that Notation has. It consists of strptime
// directives and other characters, and may have alternatives. It is rejected if one of them has an
// unsupported directive or does not determine values of the type.
func ParseDateFormat(t herb.Type, format string) (string, error) {
	format = expandDateFormat.Replace(format)
	for alternative := range strings.SplitSeq(format, DateFormatSeparator) {
		if err := checkDateFormat(t, alternative); err != nil {
			return "", err
		}
		if t == herb.TypeDate && formatPrecision(alternative) != formatPrecision(format) {
			return "", herb.Invalidf(
				"date format %q has alternatives of different precision; write all as days, weeks, months or quarters",
				format)
		}
	}
	return format, nil
}

func checkDateFormat(t herb.Type, format string) error {
	seen := map[byte]bool{}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		if i == len(format) || strings.IndexByte("YymbdqGVHIMSfpzZa%", format[i]) < 0 {
			return herb.Invalidf("date format %q has an unsupported directive; use %%Y %%y %%m %%b %%d %%q %%G %%V "+
				"%%H %%I %%M %%S %%f %%p %%z", format)
		}
		seen[format[i]] = true
	}
	year, month := seen['Y'] || seen['y'], seen['m'] || seen['b']
	isWeek := seen['G'] && seen['V'] && !year && !month && !seen['q'] && !seen['d']
	isOther := year && month != seen['q'] && !seen['G'] && !seen['V'] && (month || !seen['d'])
	date := (isWeek || isOther) && (seen['d'] || t == herb.TypeDate)
	clock := (seen['H'] || seen['I'] && seen['p']) && seen['M']
	switch t {
	case herb.TypeTime:
		if !clock || date || seen['z'] || seen['Z'] || seen['d'] {
			return herb.Invalidf("time format %q does not describe a time of day; write it as in %%H:%%M:%%S or "+
				"%%I:%%M %%p", format)
		}
		return nil
	case herb.TypeDuration:
		if format != MinutesSeconds {
			return herb.Invalidf("duration format %q is not supported; use %s for minutes and seconds, or no format",
				format, MinutesSeconds)
		}
		return nil
	}
	if !date || t == herb.TypeDateTime && !clock || t == herb.TypeDate && (seen['H'] || seen['I']) {
		return herb.Invalidf("date format %q does not describe a %s; write it as in %%d/%%m/%%Y or %%Y-%%m-%%d "+
			"%%H:%%M, and months as in %%Y-%%m", format, t)
	}
	return nil
}

// MatchesDateFormat reports whether v is a date or datetime written in a format of ParseDateFormat.
func MatchesDateFormat(format string, v []byte) bool {
	_, ok := parseDateFormat(format, v)
	return ok
}

// parseDateFormat parses a date or datetime. Leading zeros may be left out of every number but the
// year, and a day of the week may be in front.
func parseDateFormat(format string, v []byte) (m moment, ok bool) {
	if !strings.HasPrefix(format, "%a") {
		v = CutWeekday(v)
	}
	for alternative, rest, more := strings.Cut(format, DateFormatSeparator); ; alternative, rest,
		more = strings.Cut(rest, DateFormatSeparator) {
		m, ok = parseAlternative(alternative, v, moment{month: 1, day: 1})
		if ok || !more {
			return m, ok
		}
	}
}

// CutWeekday removes the name of a day and the blank after it, with or without a comma between
// them, from the start of a date.
func CutWeekday(v []byte) []byte {
	if len(v) == 0 || v[0] <= '9' {
		return v
	}
	day, rest := cutName(v, "mon", "tue", "wed", "thu", "fri", "sat", "sun")
	rest = bytes.TrimPrefix(rest, []byte{','})
	if day == 0 || len(rest) < 2 || rest[0] != ' ' {
		return v
	}
	return rest[1:]
}

// parseAlternative parses a value in a format without alternatives. m has what the format leaves
// out.
func parseAlternative(format string, v []byte, m moment) (_ moment, ok bool) {
	pm := -1 // 0 for AM, 1 for PM
	week := -1
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			if len(v) == 0 || v[0] != format[i] {
				return m, false
			}
			v = v[1:]
			continue
		}
		i++
		v, ok = m.cutDirective(format[i], v, &pm, &week)
		if !ok {
			return m, false
		}
	}
	switch {
	case week >= 0 && !m.setWeek(week):
		return m, false
	case pm >= 0 && (m.hour == 0 || m.hour > 12):
		return m, false
	case pm >= 0:
		m.hour = m.hour%12 + 12*pm
	}
	return m, len(v) == 0 && m.isValid()
}

// cutDirective parses what one directive describes at the start of v.
func (m *moment) cutDirective(directive byte, v []byte, pm, week *int) (rest []byte, ok bool) {
	least, most := 1, 2
	var to *int
	switch directive {
	case 'Y', 'G':
		to, least, most = &m.year, 4, 4
	case 'y':
		to, least = &m.year, 2
	case 'm':
		to = &m.month
	case 'q':
		to, most = &m.month, 1
	case 'V':
		to, least = week, 2
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
	switch *to = number(v[:n]); directive {
	case 'y':
		m.year += 1900
		if m.year < 1969 { // as POSIX has it
			m.year += 100
		}
	case 'q':
		m.month = 3*m.month - 2 // not valid beyond the fourth quarter
	}
	return v[n:], true
}

// longNames are the English names of months and days that begin with their abbreviation.
const longNames = " january february march april may june july august september october november december sept " +
	"monday tuesday wednesday thursday friday saturday sunday tues wedn thur thurs "

// cutName parses one of the names, its full form or its abbreviation in any case, and returns its
// number from 1. The number is 0 if v begins with none of them.
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

// AppendClockFormat appends the format of a time of day: hh:mm or hh:mm:ss with or without a
// fraction, of 24 hours or with AM or PM, and with or without a zone. ok is false if v is not a
// valid one.
func AppendClockFormat(dst, v []byte) (format []byte, ok bool) {
	var m moment
	cut := func(prefix, directive string, to *int, least int) bool {
		rest, ok := bytes.CutPrefix(v, []byte(prefix))
		n := min(digitCount(rest), 2)
		ok = ok && n >= least
		if ok {
			*to, v, dst = number(rest[:n]), rest[n:], append(append(dst, prefix...), directive...)
		}
		return ok
	}
	hour := len(dst)
	if !cut("", "%H", &m.hour, 1) || !cut(":", "%M", &m.minute, 2) {
		return dst, false
	}
	if cut(":", "%S", &m.second, 2) && len(v) > 0 && v[0] == '.' {
		n := 1 + digitCount(v[1:])
		if !m.setFraction(v[1:n]) {
			return dst, false
		}
		v, dst = v[n:], append(dst, ".%f"...)
	}
	if half, rest := cutName(bytes.TrimPrefix(v, []byte(" ")), "am", "pm"); half > 0 {
		if m.hour == 0 || m.hour > 12 {
			return dst, false
		}
		dst = append(append(dst, v[:len(v)-len(rest)-len("AM")]...), "%p"...)
		dst[hour+1], m.hour, v = 'I', 0, rest
	}
	if len(v) > 0 {
		zone := bytes.TrimPrefix(v, []byte(" "))
		dst = append(append(dst, v[:len(v)-len(zone)]...), "%z"...)
		if !m.setZone(zone) {
			return dst, false
		}
	}
	return dst, m.hour < 24 && m.minute < 60 && m.second < 60
}
