package columns

import (
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// isNumbering reports whether the publish report shows that numbers count or encode something
// rather than measure it: they number the rows, are dates without separators, or have the same
// number of digits, as postal codes do. Of the latter, the name tells salaries from codes.
func isNumbering(name string, c *herb.ColumnReport) bool {
	if c == nil || !isDigits(c.Min) || !isDigits(c.Max) {
		return false
	}
	isFixed := c.Shortest == c.Longest && len(c.Min) == c.Longest && c.Filled > 1
	isFixed = isFixed && !isMeasureName(name)
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
	return slices.ContainsFunc(text.IdentifierWords(name), func(word string) bool {
		switch word {
		case "id", "no", "nr", "code", "year", "zip", "key", "number", "ean", "gtin", "isbn", "fips", "phone":
			return true
		}
		return len(word) > 5 && (strings.HasSuffix(word, "code") || strings.HasSuffix(word, "id")) && !slices.Contains(notIDs, word)
	})
}

// notIDs are words that end as names of identifiers do.
var notIDs = []string{"hybrid", "liquid", "prepaid", "unpaid"}

// isMeasureName reports whether a name says that its numbers measure something.
func isMeasureName(name string) bool { return HasWord(name, measureWords...) }

// measureWords are words in names of measures, whose numbers often have four or five digits.
var measureWords = []string{
	"amount", "betrag", "budget", "cost", "costs", "earnings", "fee", "gdp", "gehalt", "income", "lohn", "pay", "preis", "price", "prices", "prix", "profit", "rent", "revenue",
	"salaire", "salaries", "salary", "sales", "umsatz", "wage", "wages", "usd", "eur", "gbp", "chf",
	"average", "avg", "count", "maximum", "mean", "median", "minimum", "score", "sum", "total", "value",
	"cases", "deaths", "employees", "inhabitants", "population", "steps", "views", "visitors", "votes",
	"altitude", "area", "capacity", "depth", "distance", "elevation", "energy", "gewicht", "height", "kg", "km", "length", "mass", "mileage", "power", "pressure", "speed",
	"temperature", "volume", "weight", "width",
}

// isYear reports whether a value looks like a year, which is not grouped.
func isYear(s string) bool {
	return len(s) == 4 && (s[0] == '1' || s[0] == '2') && strings.Trim(s, "0123456789") == ""
}
