package ingest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// errNotText is replaced by the reader, who knows the place.
var errNotText = errors.New("the text is not valid UTF-8")

// appendText writes a value that is not null.
func (l *parquetLeaf) appendText(b []byte, v parquetValue) ([]byte, error) {
	switch l.kind {
	case leafBoolean:
		return strconv.AppendBool(b, v.data[0] != 0), nil
	case leafInt32:
		return strconv.AppendInt(b, int64(int32(v.uint32())), 10), nil
	case leafInt64:
		return strconv.AppendInt(b, int64(v.uint64()), 10), nil
	case leafUint32:
		return strconv.AppendUint(b, uint64(v.uint32()), 10), nil
	case leafUint64:
		return strconv.AppendUint(b, v.uint64(), 10), nil
	case leafFloat:
		return appendFloat(b, float64(math.Float32frombits(v.uint32())), 32), nil
	case leafDouble:
		return appendFloat(b, math.Float64frombits(v.uint64()), 64), nil
	case leafDecimal32:
		return appendPoint(strconv.AppendInt(b, int64(int32(v.uint32())), 10), len(b), l.scale), nil
	case leafDecimal64:
		return appendPoint(strconv.AppendInt(b, int64(v.uint64()), 10), len(b), l.scale), nil
	case leafDate:
		return appendDate(b, time.Unix(int64(int32(v.uint32()))*secondsOfDay, 0).UTC()), nil
	case leafTime32:
		return l.appendTime(b, int64(int32(v.uint32())))
	case leafTime64:
		return l.appendTime(b, int64(v.uint64()))
	case leafTimestamp:
		seconds, fraction := floorDiv(int64(v.uint64()), l.unit())
		b = append(appendDate(b, time.Unix(seconds, 0).UTC()), 'T')
		_, clock := floorDiv(seconds, secondsOfDay)
		return l.appendClock(b, clock, fraction), nil
	case leafInt96:
		return l.appendInt96(b, v), nil
	default:
		return l.appendBytes(b, v.data)
	}
}

// appendBytes writes a value that is stored as bytes.
func (l *parquetLeaf) appendBytes(b, value []byte) ([]byte, error) {
	if l.width > 0 && len(value) != l.width {
		return b, errors.New("a value does not have the length that the schema says")
	}
	switch l.kind {
	case leafText:
		if !utf8.Valid(value) {
			return b, errNotText
		}
		return append(b, value...), nil
	case leafDecimalBytes:
		return appendPoint(twosComplement(value).Append(b, 10), len(b), l.scale), nil
	case leafFloat16:
		return appendFloat(b, half(binary.LittleEndian.Uint16(value)), 32), nil
	case leafUUID:
		return appendUUID(b, value), nil
	case leafInterval:
		return appendInterval(b, binary.LittleEndian.Uint32(value), binary.LittleEndian.Uint32(value[4:]),
			binary.LittleEndian.Uint32(value[8:])), nil
	default:
		return base64.StdEncoding.AppendEncode(b, value), nil
	}
}

// isNumber reports whether values are numbers in JSON too.
func (l *parquetLeaf) isNumber() bool {
	switch l.kind {
	case leafInt32, leafInt64, leafUint32, leafUint64, leafFloat, leafDouble, leafFloat16, leafDecimal32, leafDecimal64, leafDecimalBytes:
		return true
	}
	return false
}

// appendFloat writes a number in the shortest plain decimal notation that is read back as the same number. There is no
// exponent, because a column is one of numbers only when all its values are in plain notation.
func appendFloat(b []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	default:
		return strconv.AppendFloat(b, f, 'f', -1, bits)
	}
}

// appendPoint puts a point into the whole number that begins at start, so that as many digits follow as scale says.
func appendPoint(b []byte, start, scale int) []byte {
	if scale == 0 {
		return b
	}
	if b[start] == '-' {
		start++
	}
	if missing := scale + 1 - (len(b) - start); missing > 0 {
		b = slices.Insert(b, start, bytes.Repeat([]byte{'0'}, missing)...)
	}
	return slices.Insert(b, len(b)-scale, '.')
}

// twosComplement reads a signed number, the most significant byte first.
func twosComplement(value []byte) *big.Int {
	n := new(big.Int).SetBytes(value)
	if len(value) > 0 && value[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(value))))
	}
	return n
}

// half reads a number of 16 bits.
func half(h uint16) float64 {
	sign := 1.0
	if h&0x8000 != 0 {
		sign = -1
	}
	exponent, fraction := int(h>>10&0x1F), float64(h&0x3FF)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 0x1F:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	default:
		return sign * math.Ldexp(fraction+1024, exponent-25)
	}
}

func appendUUID(b, value []byte) []byte {
	for i, end := range []int{4, 6, 8, 10, 16} {
		if i > 0 {
			b = append(b, '-')
		}
		start := []int{0, 4, 6, 8, 10}[i]
		b = hex.AppendEncode(b, value[start:end])
	}
	return b
}

// appendInterval writes a duration as ISO 8601 does. Its parts are not carried over: no month has a fixed length.
func appendInterval(b []byte, months, days, millis uint32) []byte {
	b = append(b, 'P')
	if months != 0 {
		b = append(strconv.AppendUint(b, uint64(months), 10), 'M')
	}
	if days != 0 {
		b = append(strconv.AppendUint(b, uint64(days), 10), 'D')
	}
	if millis == 0 {
		if months == 0 && days == 0 {
			b = append(b, "0D"...)
		}
		return b
	}
	b = append(b, 'T')
	b = strconv.AppendUint(b, uint64(millis/1000), 10)
	if rest := millis % 1000; rest != 0 {
		b = append(b, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
	}
	return append(b, 'S')
}

const secondsOfDay = 24 * 60 * 60

// unit is how many units a second has.
func (l *parquetLeaf) unit() int64 {
	n := int64(1)
	for range l.digits {
		n *= 10
	}
	return n
}

// appendClock writes a time of day with all the digits that its unit gives it.
func (l *parquetLeaf) appendClock(b []byte, seconds, fraction int64) []byte {
	b = append(appendTime(b, seconds), '.')
	b = appendPadded(b, int(fraction), l.digits)
	if l.utc {
		b = append(b, 'Z')
	}
	return b
}

func (l *parquetLeaf) appendTime(b []byte, units int64) ([]byte, error) {
	seconds, fraction := floorDiv(units, l.unit())
	if seconds < 0 || seconds >= secondsOfDay {
		return b, errors.New("a time of day is outside the day")
	}
	return l.appendClock(b, seconds, fraction), nil
}

// appendInt96 writes a time of a day in the way of older writers: nanoseconds of a day, and the number of the day. They
// do not say which clock it is.
func (l *parquetLeaf) appendInt96(b []byte, v parquetValue) []byte {
	const julianOfEpoch = 2_440_588
	seconds, fraction := floorDiv(int64(v.uint64()), 1e9)
	carry, clock := floorDiv(seconds, secondsOfDay)
	days := int64(int32(binary.LittleEndian.Uint32(v.data[8:]))) - julianOfEpoch + carry
	b = append(appendDate(b, time.Unix(days*secondsOfDay, 0).UTC()), 'T')
	return l.appendClock(b, clock, fraction)
}

// appendDate writes the day of t. A year before 0 or after 9999 has a sign and at least six digits.
func appendDate(b []byte, t time.Time) []byte {
	year, month, day := t.Date()
	switch {
	case year < 0:
		b = appendPadded(append(b, '-'), -year, 6)
	case year > 9999:
		b = appendPadded(append(b, '+'), year, 6)
	default:
		b = appendPadded(b, year, 4)
	}
	b = appendPadded(append(b, '-'), int(month), 2)
	return appendPadded(append(b, '-'), day, 2)
}

// appendTime writes hours, minutes and seconds.
func appendTime(b []byte, seconds int64) []byte {
	b = appendPadded(b, int(seconds/3600), 2)
	b = appendPadded(append(b, ':'), int(seconds/60%60), 2)
	return appendPadded(append(b, ':'), int(seconds%60), 2)
}

// appendPadded writes a number that is not negative with at least some digits.
func appendPadded(b []byte, n, digits int) []byte {
	var room [20]byte
	text := strconv.AppendInt(room[:0], int64(n), 10)
	for range digits - len(text) {
		b = append(b, '0')
	}
	return append(b, text...)
}

// floorDiv rounds down, so that what is before 1970 has a day and a time like what is after. The rest is not negative.
func floorDiv(a, b int64) (quotient, rest int64) {
	quotient, rest = a/b, a%b
	if rest < 0 {
		quotient, rest = quotient-1, rest+b
	}
	return quotient, rest
}
