package text

import (
	"bytes"
	"encoding/binary"
	"time"

	"herbarium/internal/herb"
)

// Key returns the sort key of a value of the given type in canonical form: values sort as their
// keys do as bytes, and values with the same key are ties. ok is false if the value is not valid
// for the type. Callers must handle missing values separately: they sort last in both directions.
func Key(t herb.Type, value string) (key string, ok bool) {
	switch t {
	case herb.TypeNumber, herb.TypeDuration:
		b, ok := appendNumberKey(make([]byte, 0, 64), []byte(value))
		return string(b), ok
	case herb.TypeDate:
		return value, IsDate(value)
	case herb.TypeDateTime:
		return value, isCanonicalDateTime(value)
	case herb.TypeTime:
		return value, isCanonicalTime(value)
	case herb.TypeBoolean:
		return value, value == "false" || value == "true"
	default:
		return string(appendTextSortKey(make([]byte, 0, 128), value)), true
	}
}

// PrefixKey returns the beginning of the sort keys of the values of a type that begin with a
// prefix. For text and lists, these are the values whose primary weights begin with those of the
// prefix.
func PrefixKey(t herb.Type, prefix string) string {
	switch t {
	case herb.TypeDate:
		return prefix
	case herb.TypeDateTime:
		return dateTimePrefix(prefix)
	case herb.TypeTime:
		return timePrefix(prefix)
	default:
		return PrimaryKey(prefix)
	}
}

// AppendSortKey appends the key of a value in such a form that no key is a prefix of another, so
// that concatenated keys compare key by key.
func AppendSortKey(dst []byte, t herb.Type, value []byte) (key []byte, ok bool) {
	if t.IsScalar() {
		return AppendScalarSortKey(dst, t, value)
	}
	return append(appendTextSortKey(dst, value), 0), true
}

// AppendScalarSortKey is AppendSortKey for a scalar type. The value may be on the stack of the
// caller, because it does not escape.
func AppendScalarSortKey(dst []byte, t herb.Type, value []byte) (key []byte, ok bool) {
	if t == herb.TypeNumber || t == herb.TypeDuration {
		key, ok = appendNumberKey(dst, value)
		return append(key, 0), ok // sorts before any digit: 1 before 15
	}
	scalar, ok := Key(t, string(value))
	dst = append(dst, scalar...)
	if t == herb.TypeTime { // of any length
		dst = append(dst, 0)
	}
	return dst, ok
}

// FieldKey returns the sort key of a value as written in the notation of its field. status is Valid
// if it has one.
func FieldKey(f *herb.Field, value string) (key string, status Status) {
	// whose canonical form is never written
	if value != "" && f.Notation.Decimal+f.Notation.DateFormat == "" && f.Type != herb.TypeDuration {
		if key, ok := Key(f.Type, value); ok { // most values are in canonical form
			return key, Valid
		}
	}
	canonical, status := Canonical(f, value)
	if status == Valid {
		key, _ = Key(f.Type, canonical)
	}
	return key, status
}

// AppendIdentity appends bytes that are equal for equal values of a field, given as written:
// numbers, dates and booleans are equal by value, texts, lists and missing values as written. It is
// the only definition of equal primary keys.
func AppendIdentity(dst []byte, f *herb.Field, value string) []byte {
	if f.Type.IsScalar() {
		if key, status := FieldKey(f, value); status == Valid {
			return append(dst, key...)
		}
	}
	return append(dst, value...)
}

// AppendKey appends bytes that are equal for records with equal keys. key has the positions of its
// fields; value returns the value of a field as written. ok is false if all values are empty: such
// a record has no key and equals no other.
func AppendKey(dst []byte, fields []herb.Field, key []int, value func(field int) string) (_ []byte, ok bool) {
	for _, i := range key {
		v, before := value(i), len(dst)
		ok = ok || v != ""
		dst = AppendIdentity(dst, &fields[i], v)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(dst)-before)) // ("ab", "c") is not ("a", "bc")
	}
	return dst, ok
}

// First bytes of number keys.
const (
	numberNegative = 1
	numberZero     = 2
	numberPositive = 3
)

// IsNumber reports whether s is a number in plain decimal notation.
func IsNumber(s []byte) bool {
	_, _, _, ok := splitNumber(s)
	return ok
}

// splitNumber splits a number into sign, integer part and fraction. ok is false if s is not a
// number.
func splitNumber(s []byte) (negative bool, whole, fraction []byte, ok bool) {
	rest, negative := bytes.CutPrefix(s, []byte{'-'})
	whole, fraction, point := bytes.Cut(rest, []byte{'.'})
	ok = isDigits(whole) && (len(whole) == 1 || whole[0] != '0') && (!point || isDigits(fraction))
	return negative, whole, fraction, ok
}

// appendNumberKey appends the sort key of a number in plain decimal notation: an optional minus
// sign, digits without leading zeros, and optionally a point and more digits. Equal numbers have
// equal keys regardless of notation. Numbers may have any number of digits; nothing is rounded.
//
// The key consists of the sign, the position of the decimal point relative to the first significant
// digit, and the significant digits. Exponent and digits of negative numbers are inverted, so that
// larger magnitudes sort first.
func appendNumberKey(dst, s []byte) (key []byte, ok bool) {
	negative, whole, fraction, ok := splitNumber(s)
	if !ok {
		return dst, false
	}
	exponent := len(whole)
	if whole[0] == '0' {
		trimmed := bytes.TrimLeft(fraction, "0")
		exponent = len(trimmed) - len(fraction)
		whole, fraction = nil, trimmed
	}
	fraction = bytes.TrimRight(fraction, "0")
	if len(fraction) == 0 {
		whole = bytes.TrimRight(whole, "0")
	}
	if len(whole)+len(fraction) == 0 {
		return append(dst, numberZero), true
	}
	start := len(dst) + 1
	dst = append(dst, numberPositive)
	dst = binary.BigEndian.AppendUint32(dst, uint32(int64(exponent)+1<<31))
	dst = append(append(dst, whole...), fraction...)
	if negative {
		dst[start-1] = numberNegative
		for i := start; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
		dst = append(dst, 0xFF) // -1.5 before -1: if one is a prefix of the other, the shorter is the larger number
	}
	return dst, true
}

func isDigits[T string | []byte](s T) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return len(s) > 0
}

// IsDate reports whether s is a calendar date in the form YYYY-MM-DD.
func IsDate[T string | []byte](s T) bool {
	if len(s) != len(time.DateOnly) {
		return false
	}
	_, ok := parseISO([]byte(s))
	return ok
}

// isCanonicalDateTime reports whether s is a datetime in the form of CanonicalDateTime.
func isCanonicalDateTime(s string) bool {
	if len(s) != len(CanonicalDateTime) || s[10] != 'T' || s[19] != '.' || s[len(s)-1] != 'Z' {
		return false
	}
	_, ok := parseISO([]byte(s))
	return ok
}
