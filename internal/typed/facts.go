package typed

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Facts is what the values of a column have in common, as far as it decides how other programs read
// them. The zero value is that of a column without values.
type Facts struct {
	Whole    uint16 // most digits before the decimal point; a zero alone is none
	Decimals uint16 // most digits after it, as written
	Fraction uint16 // most digits after it, without zeros at the end
	Flags    Flags
}

// Flags are properties that at least one value of a column has.
type Flags uint16

// Flags of numbers, datetimes and times of day.
const (
	BeyondInt64 Flags = 1 << iota // a whole number that does not fit 64 bits
	BeyondFloat                   // a number that is not the shortest decimal of a double
	WithZone                      // a datetime with a zone
	WithoutZone                   // a datetime without one
	BeyondNanos                   // a datetime whose nanoseconds since 1970 do not fit 64 bits
	NoTime                        // a time of day that no clock shows: 24:00:00 or 23:59:60
	Invalid                       // a value that the type does not have, in a segment of an earlier release
)

// FactsSize is the number of bytes of encoded facts.
const FactsSize = 8

// Append appends the encoding of the facts.
func (f Facts) Append(dst []byte) []byte {
	for _, v := range []uint16{f.Whole, f.Decimals, f.Fraction, uint16(f.Flags)} {
		dst = binary.LittleEndian.AppendUint16(dst, v)
	}
	return dst
}

// DecodeFacts decodes FactsSize bytes.
func DecodeFacts(b []byte) Facts {
	at := func(i int) uint16 { return binary.LittleEndian.Uint16(b[2*i:]) }
	return Facts{at(0), at(1), at(2), Flags(at(3))}
}

// Merge adds the facts of other values of the column. The order of the values is irrelevant.
func (f *Facts) Merge(o Facts) {
	f.Whole, f.Decimals, f.Fraction = max(f.Whole, o.Whole), max(f.Decimals, o.Decimals), max(f.Fraction, o.Fraction)
	f.Flags |= o.Flags
}

// Add adds a value of a field.
func (f *Facts) Add(field *herb.Field, value []byte) {
	if !field.Type.IsScalar() {
		return
	}
	if field.Type == herb.TypeDateTime {
		f.addDateTime(field, value)
		return
	}
	var buf [64]byte
	canonical, status := text.AppendCanonical(buf[:0], field, value)
	switch {
	case status == text.Missing:
	case status == text.Invalid:
		f.Flags |= Invalid
	case field.Type == herb.TypeNumber || field.Type == herb.TypeDuration:
		f.addNumber(canonical)
	case field.Type == herb.TypeTime:
		f.addTime(canonical)
	}
}

// addNumber adds a number in plain decimal notation.
func (f *Facts) addNumber(decimal []byte) {
	unsigned := bytes.TrimPrefix(decimal, []byte{'-'})
	whole, decimals, _ := bytes.Cut(unsigned, []byte{'.'})
	whole, fraction := bytes.TrimLeft(whole, "0"), bytes.TrimRight(decimals, "0")
	f.Whole = max(f.Whole, saturated(len(whole)))
	f.Decimals = max(f.Decimals, saturated(len(decimals)))
	f.Fraction = max(f.Fraction, saturated(len(fraction)))
	const int64Digits = 18 // fit 64 bits with any digits
	if len(fraction) == 0 && len(whole) > int64Digits {
		if _, err := strconv.ParseInt(string(decimal[:len(decimal)-len(unsigned)+len(whole)]), 10, 64); err != nil {
			f.Flags |= BeyondInt64
		}
	}
	if f.Flags&BeyondFloat == 0 && !isShortest(decimal, whole, fraction) {
		f.Flags |= BeyondFloat
	}
}

// isShortest reports whether a number is the shortest decimal that its nearest double is read from,
// so that programs with doubles show the same digits. whole and fraction are its digits without the
// zeros that its value does not need.
func isShortest(decimal, whole, fraction []byte) bool {
	const always = 15 // digits; no two such decimals have the same double
	if len(whole)+len(fraction) <= always {
		return true
	}
	d, err := strconv.ParseFloat(string(decimal), 64)
	if err != nil || math.IsInf(d, 0) {
		return false
	}
	var buf [400]byte
	shortest := bytes.TrimPrefix(strconv.AppendFloat(buf[:0], d, 'f', -1, 64), []byte{'-'})
	w, f, _ := bytes.Cut(shortest, []byte{'.'})
	return bytes.Equal(bytes.TrimLeft(w, "0"), whole) && bytes.Equal(f, fraction)
}

// addTime adds a time of day in canonical form.
func (f *Facts) addTime(canonical []byte) {
	if string(canonical) == text.EndOfDay || bytes.HasSuffix(canonical[:len("23:59:60")], []byte(":60")) {
		f.Flags |= NoTime
	}
	_, fraction, _ := bytes.Cut(canonical, []byte{'.'})
	f.Fraction = max(f.Fraction, saturated(len(fraction)))
}

// Instants whose nanoseconds since 1970 fit 64 bits, rounded to seconds.
const (
	firstNanos = math.MinInt64/int64(time.Second) + 1
	lastNanos  = math.MaxInt64/int64(time.Second) - 1
)

func (f *Facts) addDateTime(field *herb.Field, value []byte) {
	if text.MissingPosition(field, value) >= 0 {
		return
	}
	t, zoned, ok := text.ParseDateTime(field, value)
	switch {
	case !ok:
		f.Flags |= Invalid
		return
	case zoned:
		f.Flags |= WithZone
	default:
		f.Flags |= WithoutZone
	}
	if s := t.Unix(); s < firstNanos || s > lastNanos {
		f.Flags |= BeyondNanos
	}
	digits := 0
	for nanos, unit := t.Nanosecond(), int(time.Second); nanos > 0; nanos %= unit {
		unit /= 10
		digits++
	}
	f.Fraction = max(f.Fraction, uint16(digits))
}

// saturated returns a number of digits. More than 65535 count as that many.
func saturated(digits int) uint16 { return uint16(min(digits, math.MaxUint16)) }
