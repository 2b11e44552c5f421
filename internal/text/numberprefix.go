package text

import (
	"encoding/binary"
	"strings"
)

// KeyRange is the range [From, To) of sort keys.
type KeyRange struct{ From, To string }

// IsNumberPrefix reports whether a prefix can be that of numbers: digits, with or without a minus
// sign, or just that sign.
func IsNumberPrefix(prefix string) bool {
	digits := strings.TrimPrefix(prefix, "-")
	return isDigits(digits) || prefix == "-"
}

// NumberPrefixRange returns the range of the sort keys of the numbers that begin with a prefix in
// plain decimal notation, which IsNumberPrefix accepts, and have n digits before the decimal point,
// without a leading zero. Numbers of each length are a range of their own: 12, 120 to 129, 1200 to
// 1299. ok is false if there are none.
func NumberPrefixRange(prefix string, n int) (r KeyRange, ok bool) {
	digits, isNegative := strings.CutPrefix(prefix, "-")
	switch {
	case digits == "": // just the sign
		return KeyRange{string([]byte{numberNegative}), string([]byte{numberZero})}, true
	case digits == "0" && isNegative: // more than -1, and not zero
		return KeyRange{numberKeyStart(0, true), string([]byte{numberZero})}, n == 0
	case digits == "0": // zero, and fractions of one
		return KeyRange{string([]byte{numberZero}), numberKeyStart(1, false)}, n == 0
	case digits[0] == '0' || len(digits) > n:
		return KeyRange{}, false
	}
	// keys have no zeros at their end
	start, significant := numberKeyStart(n, isNegative), strings.TrimRight(digits, "0")
	if isNegative {
		return KeyRange{start + inverted(digits), start + inverted(significant) + "\xff\x00"}, true
	}
	after := []byte(digits)
	after[len(after)-1]++ // for 9 it is a colon, which is after all digits
	return KeyRange{start + significant, start + string(after)}, true
}

// NumberLength returns the sign of the number with a sort key, and how many digits it has before
// the decimal point, without a leading zero. Numbers of one sign and length are adjacent.
func NumberLength(key string) (isNegative bool, n int) {
	isNegative = strings.HasPrefix(key, string([]byte{numberNegative}))
	if len(key) < 5 {
		return isNegative, 0 // zero
	}
	exponent := key[1:5]
	if isNegative {
		exponent = inverted(exponent)
	}
	return isNegative, int(max(0, int64(binary.BigEndian.Uint32([]byte(exponent)))-1<<31))
}

// numberKeyStart returns the beginning of the keys of numbers with n digits before the decimal
// point, without leading zeros.
func numberKeyStart(n int, isNegative bool) string {
	exponent := string(binary.BigEndian.AppendUint32(nil, uint32(int64(n)+1<<31)))
	if isNegative {
		return string([]byte{numberNegative}) + inverted(exponent)
	}
	return string([]byte{numberPositive}) + exponent
}

// inverted returns the bytes of a part of the key of a negative number.
func inverted(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = ^b[i]
	}
	return string(b)
}
