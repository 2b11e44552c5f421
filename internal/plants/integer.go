package plants

import (
	"strconv"
	"strings"
)

// parseInteger parses a JSON number exactly. integer reports whether its value is an integer, in any notation (1.0, 1e3,
// 12300e-2), and fits whether it fits in 64 bits. Large exponents cost nothing.
func parseInteger(s string) (n int64, integer, fits bool) {
	mantissa, exponent := s, int64(0)
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exponent = s[:i], parseExponent(s[i+1:])
	}
	digits, negative := strings.CutPrefix(mantissa, "-")
	digits, fraction, _ := strings.Cut(digits, ".")
	exponent -= int64(len(fraction))
	digits = strings.TrimLeft(digits+fraction, "0")
	if digits == "" {
		return 0, true, true
	}
	significant := strings.TrimRight(digits, "0")
	exponent += int64(len(digits) - len(significant))
	// The value is significant × 10^exponent, and significant does not end in 0.
	if exponent < 0 {
		return 0, false, false
	}
	const most = 19 // digits of a 64-bit integer
	if int64(len(significant))+exponent > most {
		return 0, true, false
	}
	if negative {
		significant = "-" + significant
	}
	n, err := strconv.ParseInt(significant+strings.Repeat("0", int(exponent)), 10, 64)
	return n, true, err == nil
}

// parseExponent parses the exponent of a JSON number. One that overflows becomes larger than the number of digits that a
// body can have.
func parseExponent(s string) int64 {
	const huge = 1 << 40
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err == nil:
		return min(max(n, -huge), huge)
	case strings.HasPrefix(s, "-"):
		return -huge
	default:
		return huge
	}
}
