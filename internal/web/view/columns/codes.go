package columns

import (
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/roles"
)

// isNumbering reports whether the publish report shows that numbers count or encode something
// rather than measure it: they number the rows, are dates without separators, or have the same
// number of digits, as postal codes do. Amounts are round, are close to each other, or their name
// tells them from codes.
func isNumbering(name string, c *herb.ColumnReport) bool {
	role := roles.Of(name)
	if c == nil || role.IsMeasure() || !isSequence(c) && (!isDigits(c.Min) || !isDigits(c.Max)) {
		return false
	}
	isAmount := strings.HasSuffix(c.Min, "0") && strings.HasSuffix(c.Max, "0") || c.Max[0]-'0' < 4*(c.Min[0]-'0')
	isFixed := c.Shortest == c.Longest && len(c.Min) == c.Longest && c.Filled > 1 && !isAmount
	isDate := role == roles.Date && c.Shortest >= len("1022006") && len(c.Max) == len("01022006")
	return isSequence(c) || isFixed || isDate
}

// isSequence reports whether whole numbers number the rows: they differ and have few gaps.
func isSequence(c *herb.ColumnReport) bool {
	lowest, errLowest := strconv.Atoi(c.Min)
	highest, errHighest := strconv.Atoi(c.Max)
	return errLowest == nil && errHighest == nil && c.Distinct == c.Filled && highest-lowest < 4*c.Filled
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// isCodeName reports whether a name says that its numbers identify something. A column that is only
// called a number counts if its values repeat.
func isCodeName(name string, c *herb.ColumnReport) bool {
	role := roles.Of(name)
	isCount := c != nil && roles.IsNumber(name) && 10*c.Distinct < 9*c.Filled
	return role.IsCode() && !isCount || role == roles.Year
}

// isYear reports whether a value looks like a year, which is not grouped.
func isYear(s string) bool {
	return len(s) == 4 && (s[0] == '1' || s[0] == '2') && strings.Trim(s, "0123456789") == ""
}
