package parquetrows

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"herbarium/internal/ingest/rows"
)

// errNotText is replaced by an error that names the row and the column.
var errNotText = errors.New("the text is not valid UTF-8")

// appendText appends a value that is not null.
func (l *leafType) appendText(b []byte, v value) ([]byte, error) {
	switch l.kind {
	case leafBoolean:
		return strconv.AppendBool(b, v.data[0] != 0), nil
	case leafInt:
		return strconv.AppendInt(b, v.int(), 10), nil
	case leafUint:
		return strconv.AppendUint(b, v.uint(), 10), nil
	case leafFloat:
		if len(v.data) == 4 {
			return rows.AppendFloat(b, float64(math.Float32frombits(uint32(v.uint()))), 32), nil
		}
		return rows.AppendFloat(b, math.Float64frombits(v.uint()), 64), nil
	case leafDecimal:
		return appendPoint(strconv.AppendInt(b, v.int(), 10), len(b), l.scale), nil
	case leafDate:
		return rows.AppendDate(b, time.Unix(v.int()*secondsPerDay, 0).UTC()), nil
	case leafTime:
		seconds, fraction := floorDiv(v.int(), l.unit())
		if seconds < 0 || seconds >= secondsPerDay {
			return b, errors.New("a time of day is outside the day")
		}
		return l.appendClock(b, seconds, fraction), nil
	case leafTimestamp:
		seconds, fraction := floorDiv(v.int(), l.unit())
		b = append(rows.AppendDate(b, time.Unix(seconds, 0).UTC()), 'T')
		_, clock := floorDiv(seconds, secondsPerDay)
		return l.appendClock(b, clock, fraction), nil
	case leafInt96:
		return l.appendInt96(b, v), nil
	default:
		return l.appendBytes(b, v.data)
	}
}

// appendBytes appends a value that is stored as bytes.
func (l *leafType) appendBytes(b, data []byte) ([]byte, error) {
	if l.stored.width > 0 && len(data) != l.stored.width {
		return b, errors.New("a value does not have the length that the schema declares")
	}
	switch l.kind {
	case leafText:
		if !utf8.Valid(data) {
			return b, errNotText
		}
		return append(b, data...), nil
	case leafDecimalBytes:
		if len(data) > maxDecimal {
			return b, fmt.Errorf("a decimal has %d bytes", len(data))
		}
		return appendPoint(twosComplement(data).Append(b, 10), len(b), l.scale), nil
	case leafFloat16:
		return rows.AppendFloat(b, half(binary.LittleEndian.Uint16(data)), 32), nil
	case leafUUID:
		return fmt.Appendf(b, "%x-%x-%x-%x-%x", data[:4], data[4:6], data[6:8], data[8:10], data[10:]), nil
	case leafInterval:
		return appendInterval(b, data), nil
	default:
		return base64.StdEncoding.AppendEncode(b, data), nil
	}
}

// isNumber reports whether values are numbers.
func (l *leafType) isNumber() bool { return l.kind >= leafInt && l.kind <= leafDecimalBytes }

// appendPoint inserts a decimal point into the integer that begins at start, so that scale digits follow it.
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

// twosComplement decodes a signed integer, most significant byte first.
func twosComplement(data []byte) *big.Int {
	n := new(big.Int).SetBytes(data)
	if len(data) > 0 && data[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(data))))
	}
	return n
}

// half decodes a floating-point number of 16 bits.
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

// appendInterval appends an ISO 8601 duration. Its parts are not carried over, because a month has no fixed length.
func appendInterval(b, data []byte) []byte {
	months, days, millis := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:]), binary.LittleEndian.Uint32(data[8:])
	b = append(b, 'P')
	if months != 0 {
		b = fmt.Appendf(b, "%dM", months)
	}
	if days != 0 || months == 0 && millis == 0 {
		b = fmt.Appendf(b, "%dD", days)
	}
	switch fraction := millis % 1000; {
	case fraction != 0:
		b = fmt.Appendf(b, "T%d.%03dS", millis/1000, fraction)
	case millis != 0:
		b = fmt.Appendf(b, "T%dS", millis/1000)
	}
	return b
}

const (
	secondsPerDay = 24 * 60 * 60
	maxDecimal    = 4 << 10 // bytes of a decimal; converting more takes long
)

// unit returns the number of units per second.
func (l *leafType) unit() int64 { return int64(math.Pow10(l.digits)) }

// appendClock appends a time of day with all the digits of its unit.
func (l *leafType) appendClock(b []byte, seconds, fraction int64) []byte {
	b = append(rows.AppendClock(b, seconds), '.')
	b = rows.AppendPadded(b, int(fraction), l.digits)
	if l.utc {
		b = append(b, 'Z')
	}
	return b
}

// appendInt96 appends a timestamp of older writers: nanoseconds of a day, and the Julian day number. The time zone is not
// declared.
func (l *leafType) appendInt96(b []byte, v value) []byte {
	const julianOfEpoch = 2_440_588
	seconds, fraction := floorDiv(int64(binary.LittleEndian.Uint64(v.data)), 1e9)
	carry, clock := floorDiv(seconds, secondsPerDay)
	days := int64(int32(binary.LittleEndian.Uint32(v.data[8:]))) - julianOfEpoch + carry
	b = append(rows.AppendDate(b, time.Unix(days*secondsPerDay, 0).UTC()), 'T')
	return l.appendClock(b, clock, fraction)
}

// floorDiv rounds down, so that timestamps before 1970 have a day and a time of day too. The remainder is not negative.
func floorDiv(a, b int64) (quotient, remainder int64) {
	quotient, remainder = a/b, a%b
	if remainder < 0 {
		quotient, remainder = quotient-1, remainder+b
	}
	return quotient, remainder
}
