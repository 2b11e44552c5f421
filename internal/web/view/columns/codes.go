package columns

import (
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/roles"
)

// isNumbering reports whether the publish report shows that numbers count or encode something
// rather than measure it: they number the rows, are dates without separators, or have the same
// number of digits, as postal codes do. Of the latter, the name tells salaries from codes.
func isNumbering(name string, c *herb.ColumnReport) bool {
	if c == nil || !isDigits(c.Min) || !isDigits(c.Max) {
		return false
	}
	isFixed := c.Shortest == c.Longest && len(c.Min) == c.Longest && c.Filled > 1
	isFixed = isFixed && !roles.Of(name).IsMeasure()
	isDate := roles.Of(name) == roles.Date && len(c.Max) == len("20060102")
	return isSequence(c) || isFixed || isDate
}

// isSequence reports whether whole numbers number the rows: they differ and have few gaps.
func isSequence(c *herb.ColumnReport) bool {
	lowest, errLowest := strconv.Atoi(c.Min)
	highest, errHighest := strconv.Atoi(c.Max)
	return errLowest == nil && errHighest == nil && c.Distinct == c.Filled && highest-lowest < 4*c.Filled
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// isCodeName reports whether a name says that its numbers identify something.
func isCodeName(name string) bool {
	role := roles.Of(name)
	return role.IsCode() || role == roles.Year
}

// isYear reports whether a value looks like a year, which is not grouped.
func isYear(s string) bool {
	return len(s) == 4 && (s[0] == '1' || s[0] == '2') && strings.Trim(s, "0123456789") == ""
}
