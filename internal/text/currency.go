package text

import (
	"slices"
	"unicode"
)

// IsCurrencySign reports whether a character is the sign of a currency.
func IsCurrencySign(r rune) bool { return unicode.Is(unicode.Sc, r) }

// IsCurrencyCode reports whether three letters are the ISO 4217 code of a currency that is often
// written beside numbers.
func IsCurrencyCode(code []byte) bool {
	switch string(code) {
	case "AED", "ARS", "AUD", "BDT", "BGN", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CZK", "DKK", "EGP", "EUR", "GBP",
		"HKD", "HUF", "IDR", "ILS", "INR",
		"JPY", "KES", "KRW", "MAD", "MXN", "MYR", "NGN", "NOK", "NZD", "PEN", "PHP", "PKR", "PLN", "QAR", "RON", "RSD",
		"RUB", "SAR", "SEK", "SGD", "THB", "TRY",
		"TWD", "UAH", "USD", "VND", "ZAR":
		return true
	}
	return false
}

// IsLeadingCurrency reports whether a currency is written before the number, with commas between
// thousands, as in $1,234.50. Others, such as the euro, are written in several ways.
func IsLeadingCurrency(sign string) bool {
	return slices.Contains([]string{"$", "US$", "£", "¥", "₹"}, sign)
}
