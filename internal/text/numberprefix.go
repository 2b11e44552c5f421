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

// NumberPrefixRanges returns the ranges of the sort keys of the numbers that begin with a prefix in
// plain decimal notation, which IsNumberPrefix accepts. They are limited to numbers with as many
// digits as those whose keys are least and greatest, because numbers of each length are a range of
// their own: 12, 120 to 129, 1200 to 1299.
func NumberPrefixRanges(prefix, least, greatest string) (ranges []KeyRange) {
	digits, isNegative := strings.CutPrefix(prefix, "-")
	switch {
	case digits == "": // just the sign
		return []KeyRange{{string([]byte{numberNegative}), string([]byte{numberZero})}}
	case digits == "0" && isNegative: // more than -1, and not zero
		return []KeyRange{{numberKeyStart(0, true), string([]byte{numberZero})}}
	case digits == "0": // zero, and fractions of one
		return []KeyRange{{string([]byte{numberZero}), numberKeyStart(1, false)}}
	case digits[0] == '0':
		return nil
	}
	longest := integerDigits(greatest)
	if isNegative {
		longest = integerDigits(least)
	}
	significant := strings.TrimRight(digits, "0") // keys have no zeros at their end
	for n := len(digits); n <= min(longest, MaxDigits); n++ {
		start := numberKeyStart(n, isNegative)
		if isNegative {
			ranges = append(ranges, KeyRange{start + inverted(digits), start + inverted(significant) + "\xff\x00"})
			continue
		}
		after := []byte(digits)
		after[len(after)-1]++ // for 9 it is a colon, which is after all digits
		ranges = append(ranges, KeyRange{start + significant, start + string(after)})
	}
	return ranges
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

// integerDigits returns the number of digits before the decimal point of the number with a key.
func integerDigits(key string) int {
	if len(key) < 5 {
		return 0 // zero, or no key
	}
	exponent := key[1:5]
	if key[0] == numberNegative {
		exponent = inverted(exponent)
	}
	return int(int64(binary.BigEndian.Uint32([]byte(exponent))) - 1<<31)
}

// inverted returns the bytes of a part of the key of a negative number.
func inverted(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = ^b[i]
	}
	return string(b)
}
