package columns

import (
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
)

// isNumbering reports whether the publish report shows that numbers count or encode something
// rather than measure it: they have the same number of digits, as postal codes do, number the rows,
// or are dates without separators.
func isNumbering(name string, c *herb.ColumnReport) bool {
	if c == nil || !isDigits(c.Min) || !isDigits(c.Max) {
		return false
	}
	isFixed := c.Shortest == c.Longest && len(c.Min) == c.Longest && c.Filled > 1
	isDate := HasWord(name, "date", "day") && len(c.Max) == len("20060102")
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
	return slices.ContainsFunc(identifierWords(name), func(word string) bool {
		switch word {
		case "id", "no", "nr", "code", "year", "zip", "key", "number", "ean", "gtin", "isbn", "fips", "phone":
			return true
		}
		return len(word) > 5 && (strings.HasSuffix(word, "code") || strings.HasSuffix(word, "id")) && !slices.Contains(notIDs, word)
	})
}

// notIDs are words that end as names of identifiers do.
var notIDs = []string{"hybrid", "liquid", "prepaid", "unpaid"}

// isYear reports whether a value looks like a year, which is not grouped.
func isYear(s string) bool {
	return len(s) == 4 && (s[0] == '1' || s[0] == '2') && strings.Trim(s, "0123456789") == ""
}
