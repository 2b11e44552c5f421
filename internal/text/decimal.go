package text

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// MaxDigits is the maximum number of digits of a number in plain decimal notation, because work
// with a number grows with its digits. A longer one is text. Segments of earlier releases may have
// longer numbers, so they are parsed, compared and sorted as others.
const MaxDigits = 1000

// DigitCount returns the number of digits of a number in plain decimal notation.
func DigitCount(decimal []byte) int {
	n := len(decimal)
	if bytes.HasPrefix(decimal, []byte{'-'}) {
		n--
	}
	if bytes.IndexByte(decimal, '.') >= 0 {
		n--
	}
	return n
}

// maxExponent bounds the decimal exponent of a number, because the exponent is expanded to digits.
const maxExponent = 400

// AppendDecimal appends the plain decimal notation of a number written in notation n. Besides the
// separators and the affix of n it accepts a plus sign, the negative numbers of CutAccounting, a
// missing zero before the point, a point without decimals, an exponent, and surrounding white
// space. ok is false if value is not a number; dst is then unchanged.
func AppendDecimal(dst []byte, n *herb.Notation, value []byte) (decimal []byte, ok bool) {
	if n.Decimal == "" && IsNumber(value) {
		return append(dst, value...), true
	}
	v, minus := CutAccounting(TrimBlanks(value))
	if !minus {
		v, minus = cutSign(v)
	}
	if n.Affix != "" {
		v = cutAffix(v, n.Affix)
		if !minus {
			v, minus = cutSign(v)
		}
	}
	mantissa, exponent, ok := cutExponent(v)
	if !ok {
		return dst, false
	}
	point := []byte{'.'}
	if n.Decimal != "" {
		point = []byte(n.Decimal)
	}
	whole, fraction, hasPoint := bytes.Cut(mantissa, point)
	isBare := len(fraction) == 0 && n.Decimal == "" // 34.
	if hasPoint && !isDigits(fraction) && !isBare || len(whole)+len(fraction) == 0 {
		return dst, false
	}
	start := len(dst)
	if minus {
		dst = append(dst, '-')
	}
	digits := len(dst)
	dst, ok = appendWhole(dst, whole, n)
	if !ok {
		return dst[:start], false
	}
	return placePoint(append(dst, fraction...), digits, len(dst)-digits+exponent), true
}

// appendWhole appends the digits of an integer part without its group separators. It rejects
// leading zeros, and groups of other than three digits. Commas may also separate groups of two
// digits before the last three, as in India: 1,42,782.
func appendWhole(dst, whole []byte, n *herb.Notation) (_ []byte, ok bool) {
	for n.Padded && len(whole) > 1 && whole[0] == '0' {
		whole = whole[1:]
	}
	start, run, groups, first, inner := len(dst), 0, 0, 0, 0
	for i := 0; i < len(whole); {
		if c := whole[i]; '0' <= c && c <= '9' {
			dst = append(dst, c)
			run++
			i++
			continue
		}
		size := separatorSize(whole[i:], n.Group)
		switch {
		case size == 0 || run == 0 || run > 3:
			return dst, false
		case groups == 0:
			first = run
		case run != 3 && (run != 2 || first > 2 || n.Group != ","), inner != 0 && inner != run:
			return dst, false
		default:
			inner = run
		}
		i, run, groups = i+size, 0, groups+1
	}
	if size := len(dst) - start; size > 1 && dst[start] == '0' || groups > 0 && (run != 3 || dst[start] == '0') {
		return dst, false
	}
	return dst, true
}

// separatorSize returns the size of the group separator at the start of v, or 0.
func separatorSize(v []byte, group string) int {
	switch r, size := utf8.DecodeRune(v); {
	case group == "":
		return 0
	case bytes.HasPrefix(v, []byte(group)):
		return len(group)
	case group == " " && strings.ContainsRune("\u00a0\u202f\u2009", r), group == "'" && r == '\u2019':
		return size
	}
	return 0
}

// placePoint inserts the decimal point into the digits at the end of dst, which begin at from, so
// that point of them precede it. It adds the zeros that this takes.
func placePoint(dst []byte, from, point int) []byte {
	n := len(dst) - from
	switch {
	case point <= 0:
		dst = slices.Insert(dst, from, zeros[:1-point]...)
		point = 1
	case point > n:
		dst = append(dst, zeros[:point-n]...)
	}
	for point > 1 && dst[from] == '0' { // 0.5e3
		dst = slices.Delete(dst, from, from+1)
		point--
	}
	if from+point < len(dst) {
		dst = slices.Insert(dst, from+point, '.')
	}
	return dst
}

var zeros = bytes.Repeat([]byte{'0'}, maxExponent+1)

// cutExponent splits off the exponent. ok is false if it is malformed or out of range.
func cutExponent(v []byte) (mantissa []byte, exponent int, ok bool) {
	i := bytes.IndexAny(v, "eE")
	if i < 0 {
		return v, 0, true
	}
	e := v[i+1:]
	exponent, err := strconv.Atoi(string(e))
	return v[:i], exponent, err == nil && len(bytes.TrimLeft(e, "+-")) <= 4 && max(exponent, -exponent) <= maxExponent
}

// CutAccounting returns a negative number without the parentheses around it, or the minus sign
// after it: (1,234.50), 123.50-.
func CutAccounting(v []byte) (number []byte, ok bool) {
	switch last := len(v) - 1; {
	case last > 1 && v[0] == '(' && v[last] == ')':
		return TrimBlanks(v[1:last]), true
	case last > 0 && v[last] == '-' && isDigits(v[last-1:last]):
		return v[:last], true
	}
	return v, false
}

// cutSign splits off a sign, which may be U+2212.
func cutSign(v []byte) (rest []byte, minus bool) {
	if rest, ok := bytes.CutPrefix(v, []byte("\u2212")); ok {
		return rest, true
	}
	if len(v) > 0 && (v[0] == '-' || v[0] == '+') {
		return v[1:], v[0] == '-'
	}
	return v, false
}

// cutAffix removes a currency or percent sign before or after a number, and the white space between
// them.
func cutAffix(v []byte, affix string) []byte {
	rest, ok := bytes.CutPrefix(v, []byte(affix))
	if !ok {
		rest, ok = bytes.CutSuffix(v, []byte(affix))
	}
	if !ok {
		return v
	}
	return TrimBlanks(rest)
}
