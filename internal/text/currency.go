package text

import (
	"slices"
	"unicode"
)

// IsCurrencySign reports whether a character is the sign of a currency.
func IsCurrencySign(r rune) bool { return unicode.Is(unicode.Sc, r) }

// IsLeadingCurrency reports whether a currency is written before the number, with commas between
// thousands, as in $1,234.50. Others, such as the euro, are written in several ways.
func IsLeadingCurrency(sign string) bool {
	return slices.Contains([]string{"$", "US$", "£", "¥", "₹"}, sign)
}
