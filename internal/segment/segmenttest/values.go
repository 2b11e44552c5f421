package segmenttest

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// parsedValue is a parsed value that can be compared with others of its field. It does not use the
// canonical form and the sort keys of scalar types, so that it checks them.
type parsedValue struct {
	missing int      // 0 if not missing, or 1 + the position among missing values
	number  *big.Rat // nil if not a number; 0 or 1 if a boolean; HHMMSS if a time of day; seconds if a duration
	time    time.Time
	text    string
}

// missingPosition returns the position of a value in the order of missing values: first the markers
// in the order of the field, then empty values. ok is false if the value is not missing.
//
// Rule: docs/api.md, "Sorting".
func missingPosition(f herb.Field, value string) (position int, ok bool) {
	if f.Type.IsScalar() {
		value = strings.TrimSpace(value)
		position = slices.Index(f.Notation.Missing, value)
	}
	if value == "" {
		return len(f.Notation.Missing), true
	}
	return position, f.Type.IsScalar() && position >= 0
}

// parseValue parses a value of a field, in its notation or in that of operands and edges. It panics
// on a value that is not valid for the type, which is an error in the test.
//
// Rule: docs/api.md, "Field types".
func parseValue(f herb.Field, value string) (p parsedValue) {
	if position, ok := missingPosition(f, value); ok {
		return parsedValue{missing: 1 + position}
	}
	ok := true
	switch f.Type {
	case herb.TypeNumber:
		p.number, ok = parseNumber(f.Notation, value)
	case herb.TypeDate, herb.TypeDateTime:
		p.time, ok = parseTime(f.Notation, strings.TrimSpace(value))
	case herb.TypeTime:
		p.number, ok = parseTimeOfDay(strings.TrimSpace(value))
	case herb.TypeDuration:
		p.number, ok = parseDuration(f.Notation, strings.TrimSpace(value))
	case herb.TypeBoolean:
		p.number, ok = parseBoolean(f.Notation, strings.TrimSpace(value))
	default:
		p.text = text.CollationKey(value)
	}
	if !ok {
		panic(fmt.Sprintf("segmenttest: %q is not a %s", value, f.Type))
	}
	return p
}

// Rule: docs/api.md, "Field types".
func parseNumber(n herb.Notation, s string) (*big.Rat, bool) {
	if n.Affix != "" {
		s = strings.ReplaceAll(s, n.Affix, "")
	}
	switch n.Group {
	case "":
	case "'":
		s = strings.NewReplacer("'", "", "’", "").Replace(s)
	default:
		s = strings.ReplaceAll(s, n.Group, "")
	}
	s = strings.Join(strings.Fields(s), "") // also removes groups of blanks
	if n.Decimal != "" {
		s = strings.ReplaceAll(s, n.Decimal, ".")
	}
	return new(big.Rat).SetString(s)
}

// goDateFormat translates formats to those of package time.
var goDateFormat = strings.NewReplacer("%d", "2", "%m", "1", "%Y", "2006", "%b", "Jan", "%H", "15", "%M", "04",
	"%y", "06", "%I", "3", "%S", "05", "%p", "PM")

// Rule: docs/api.md, "Field types".
func parseTime(n herb.Notation, s string) (time.Time, bool) {
	if t, ok := parsePeriod(n.DateFormat, s); ok {
		return t, true
	}
	formats := []string{time.DateOnly, "2006-01"}
	for l := range strings.SplitSeq(n.DateFormat, "|") {
		if l != "" {
			formats = append(formats, goDateFormat.Replace(l))
		}
	}
	for _, between := range []string{"T", " "} {
		for _, clock := range []string{"15:04", "15:04:05"} { // the latter also reads fractions
			for _, zone := range []string{"", "Z07:00", "Z0700"} {
				formats = append(formats, time.DateOnly+between+clock+zone)
			}
		}
	}
	for _, l := range formats {
		if t, err := time.Parse(l, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// periodFormat translates formats of quarters and weeks to those of package fmt.
var periodFormat = strings.NewReplacer("%Y", "%4d", "%q", "%1d", "%G", "%4d", "%V", "%2d")

// parsePeriod parses a quarter or a week of a year as its first day, in a format that begins with
// the year or in ISO 8601.
//
// Rule: docs/api.md, "Months, quarters and weeks".
func parsePeriod(format, s string) (first time.Time, ok bool) {
	for _, f := range []string{format, "%Y-Q%q", "%G-W%V"} {
		quarter, week := strings.Contains(f, "%q"), strings.Contains(f, "%V")
		if !quarter && !week || f != format && !strings.ContainsAny(s, "QW") {
			continue
		}
		year, n := 0, 0
		if found, _ := fmt.Sscanf(s, periodFormat.Replace(f), &year, &n); found != 2 {
			continue
		}
		if quarter {
			return time.Date(year, time.Month(1+3*(n-1)), 1, 0, 0, 0, 0, time.UTC), true
		}
		day := time.Date(year-1, 12, 20, 0, 0, 0, 0, time.UTC)
		for y, w := day.ISOWeek(); y != year || w != n; y, w = day.ISOWeek() {
			day = day.AddDate(0, 0, 1)
		}
		return day, true
	}
	return first, false
}

// Rule: docs/api.md, "Field types".
func parseBoolean(n herb.Notation, s string) (*big.Rat, bool) {
	lower := strings.ToLower(s)
	switch {
	case slices.Contains(n.True, s), !slices.Contains(n.False, s) &&
		slices.Contains([]string{"true", "yes", "t", "y"}, lower):
		return big.NewRat(1, 1), true
	case slices.Contains(n.False, s), slices.Contains([]string{"false", "no", "f", "n"}, lower):
		return big.NewRat(0, 1), true
	}
	return nil, false
}

// identity returns a string that is equal for two values exactly if they are equal.
//
// Rule: docs/api.md, "Filters".
func (p parsedValue) identity() string {
	switch {
	case p.missing > 0:
		return fmt.Sprint("missing ", p.missing)
	case p.number != nil:
		return p.number.RatString()
	}
	return p.time.Format(time.RFC3339Nano) + p.text
}

// compare compares two values of one field that are not missing.
//
// Rule: docs/api.md, "Sorting".
func (p parsedValue) compare(q parsedValue) int {
	if p.number != nil {
		return p.number.Cmp(q.number)
	}
	return cmp.Or(p.time.Compare(q.time), strings.Compare(p.text, q.text))
}

// compareForSort compares two values of one field. Missing values sort last in both directions.
//
// Rule: docs/api.md, "Sorting".
func compareForSort(p, q parsedValue, desc bool) int {
	switch {
	case p.missing > 0 || q.missing > 0:
		return cmp.Compare(p.missing, q.missing) // 0 is not missing
	case desc:
		return q.compare(p)
	default:
		return p.compare(q)
	}
}
