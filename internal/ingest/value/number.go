package value

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// separators are how the digits of a number are separated.
type separators struct{ Group, Decimal string }

// The separators between which a comma or a point before three digits does not decide.
var (
	decimalPoint = separators{}             // 1234.5
	groupPoint   = separators{".", ","}     // 1.234,5
	decimalComma = separators{Decimal: ","} // 1234,5
	groupComma   = separators{Group: ","}   // 1,234.5
)

// allSeparators returns the separators that are inferred, those that are preferred first.
func allSeparators() []separators {
	return []separators{decimalPoint, decimalComma, {Group: " "}, groupComma, groupPoint, {" ", ","}, {Group: "'"}}
}

// Fit reports whether a value is a number with these separators.
func (s separators) Fit(v []byte) bool {
	var buf [64]byte
	n := herb.Notation{Group: s.Group, Decimal: s.Decimal}
	_, status := text.AppendPublished(buf[:0], &herb.Field{Type: herb.TypeNumber, Notation: n}, v)
	return status == text.Valid
}

// isPlainNumber reports whether a value is a number in plain decimal notation.
func isPlainNumber(v []byte) bool { return text.IsNumber(v) && text.DigitCount(v) <= text.MaxDigits }

// isLongNumber reports whether a value has too many digits for a number.
func isLongNumber(v []byte) bool {
	return len(v) > text.MaxDigits && text.IsNumber(v) && !isPlainNumber(v)
}

// cutPadding returns a number with a sign, leading zeros and decimals, such as +034.5, without its
// sign and the zeros. Programs pad angles like this; codes have neither a sign nor decimals. ok is
// false for any other value.
func cutPadding(v []byte) (number []byte, ok bool) {
	if len(v) < len("+00.0") || v[0] != '+' && v[0] != '-' || v[1] != '0' || !isDigit(v[2]) {
		return nil, false
	}
	number = bytes.TrimLeft(v[1:], "0")
	if bytes.HasPrefix(number, []byte{'.'}) {
		number = v[len(v)-len(number)-1:] // one zero
	}
	return number, isPlainNumber(number) && bytes.IndexByte(number, '.') > 0
}

// isPaddedNumber reports whether a value is a number with leading zeros, which may have an
// exponent. It is false for the numbers of cutPadding.
func isPaddedNumber(v []byte) bool {
	if _, ok := cutPadding(v); ok {
		return false
	}
	number, isPadded := bytes.TrimPrefix(v, []byte{'-'}), false
	for len(number) > 1 && number[0] == '0' && isDigit(number[1]) {
		number, isPadded = number[1:], true
	}
	return isPadded && (isPlainNumber(number) || separators{}.Fit(number))
}

// maxNumber is the length of the longest value that IsNumber compares with every notation.
const maxNumber = 60

// IsNumber reports whether a value is a number in some notation: digits with separators, an
// exponent, a sign, parentheses around a negative one, and a currency or percent sign.
func IsNumber(v []byte) bool {
	if isPlainNumber(v) {
		return true
	}
	if len(v) == 0 || len(v) > maxNumber {
		return false
	}
	if _, ok := cutPadding(v); ok {
		return true
	}
	v, isNegative := text.CutAccounting(v)
	if len(v) == 0 || isNegative && (v[0] == '-' || v[0] == '+') {
		return false
	}
	_, number := cutAffix(v)
	if len(number) == 0 || hasOtherLetters(number) || !isDigit(number[len(number)-1]) && number[len(number)-1] != '.' {
		return false
	}
	for _, s := range allSeparators() {
		if s.Fit(number) {
			return true
		}
	}
	return false
}

// flags are the letters that statistical offices write after numbers: b for a break in time series,
// p for provisional and so on.
const flags = "bcdefinprsuz"

// isFlagged reports whether a value is a number with a blank and one or two flags after it, as
// Eurostat writes "12.3 p".
func isFlagged(v []byte) bool {
	number, ok := cutFlags(v)
	return ok && IsNumber(number)
}

// cutFlags removes a blank and one or two flags from the end of a value. ok is false if there are
// none.
func cutFlags(v []byte) (rest []byte, ok bool) {
	at := bytes.LastIndexByte(v, ' ')
	if at < 1 || at < len(v)-3 || at == len(v)-1 || len(bytes.Trim(v[at+1:], flags)) > 0 {
		return nil, false
	}
	return text.TrimBlanks(v[:at]), true
}

// isQuantity reports whether a value is a number in a wide sense: also a bound such as "<5", a code
// with leading zeros, or digits with commas anywhere, such as "12,34,567".
func isQuantity(v []byte) bool {
	isMark := func(r rune) bool { return strings.ContainsRune("+-%<>≤≥ ", r) || text.IsCurrencySign(r) }
	digits := strings.ReplaceAll(string(bytes.TrimFunc(v, isMark)), ",", "")
	_, err := strconv.ParseFloat(digits, 64)
	return err == nil && digits[len(digits)-1] <= '9' || IsNumber(v) // the last byte excludes infinity
}

// hasOtherLetters reports whether a value has letters that no number has: none but the E of an
// exponent, without a currency sign.
func hasOtherLetters(v []byte) bool {
	hasLetter := false
	for _, c := range v {
		if c == '$' || c >= utf8.RuneSelf {
			return false
		}
		lower := c | 0x20
		hasLetter = hasLetter || 'a' <= lower && lower <= 'z' && lower != 'e'
	}
	return hasLetter
}

// cutAffix splits a value into a number and a currency sign before it, with up to two letters
// before the sign as in US$, or a currency or percent sign after it. The code of a currency is a
// sign, too. Without a sign, affix is empty and number is the value.
func cutAffix(v []byte) (affix, number []byte) {
	unsigned := v
	if v[0] == '-' || v[0] == '+' {
		unsigned = v[1:]
	}
	letters := len(unsigned) - len(bytes.TrimLeft(unsigned, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	const code = len("EUR")
	if letters == code && text.IsCurrencyCode(unsigned[:code]) {
		return unsigned[:code], text.TrimBlanks(unsigned[code:])
	}
	if len(v) > code && text.IsCurrencyCode(v[len(v)-code:]) {
		return v[len(v)-code:], text.TrimBlanks(v[:len(v)-code])
	}
	sign, size := utf8.DecodeRune(unsigned[letters:])
	affix, number = unsigned[:letters+size], unsigned[letters+size:]
	if letters > 2 || !text.IsCurrencySign(sign) {
		sign, size = utf8.DecodeLastRune(v)
		if sign != '%' && !text.IsCurrencySign(sign) {
			return nil, v
		}
		affix, number = v[len(v)-size:], v[:len(v)-size]
	}
	return affix, text.TrimBlanks(number)
}

// isInfinity reports whether a value is an infinite number, as floating-point columns have it.
func isInfinity(v []byte) bool {
	if len(v) < len("inf") || len(v) > len("-infinity") {
		return false
	}
	switch strings.ToLower(strings.TrimLeft(string(v), "+-")) {
	case "inf", "infinity":
		return true
	}
	return false
}
