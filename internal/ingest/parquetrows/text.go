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

	meta "github.com/parquet-go/parquet-go/format"

	"herbarium/internal/ingest/rows"
)

const (
	secondsPerDay = 24 * 60 * 60
	maxDecimal    = 4 << 10 // bytes of a decimal; converting more takes long
)

// errNotText is replaced by an error that names the row and the column.
var errNotText = errors.New("the text is not valid UTF-8")

// appendText appends a value that is not null.
func (l *leafType) appendText(b, data []byte) ([]byte, error) {
	if l.width > 0 && len(data) != l.width {
		return b, errors.New("a value does not have the length that the schema declares")
	}
	switch l.kind {
	case leafBoolean:
		return strconv.AppendBool(b, data[0] != 0), nil
	case leafInt:
		return strconv.AppendInt(b, signed(data), 10), nil
	case leafUint:
		return strconv.AppendUint(b, unsigned(data), 10), nil
	case leafFloat:
		if len(data) == 4 {
			return rows.AppendFloat(b, float64(math.Float32frombits(uint32(unsigned(data)))), 32), nil
		}
		return rows.AppendFloat(b, math.Float64frombits(unsigned(data)), 64), nil
	case leafFloat16:
		return rows.AppendFloat(b, half(binary.LittleEndian.Uint16(data)), 32), nil
	case leafDecimal:
		return l.appendDecimal(b, data)
	case leafDate:
		return rows.AppendDate(b, time.Unix(signed(data)*secondsPerDay, 0).UTC()), nil
	case leafTime:
		seconds, fraction := floorDiv(signed(data), int64(math.Pow10(l.digits)))
		if seconds < 0 || seconds >= secondsPerDay {
			return b, errors.New("a time of day is outside the day")
		}
		return l.appendClock(b, seconds, fraction), nil
	case leafTimestamp:
		seconds, fraction := floorDiv(signed(data), int64(math.Pow10(l.digits)))
		return l.appendTimestamp(b, seconds, fraction), nil
	case leafInt96: // nanoseconds of a day and the Julian day number, without a declared time zone
		const julianOfEpoch = 2_440_588
		seconds, fraction := floorDiv(signed(data[:8]), 1e9)
		return l.appendTimestamp(b, seconds+(signed(data[8:])-julianOfEpoch)*secondsPerDay, fraction), nil
	case leafText:
		if !utf8.Valid(data) {
			return b, errNotText
		}
		return append(b, data...), nil
	case leafUUID:
		return fmt.Appendf(b, "%x-%x-%x-%x-%x", data[:4], data[4:6], data[6:8], data[8:10], data[10:]), nil
	case leafInterval:
		return appendInterval(b, data), nil
	default:
		return base64.StdEncoding.AppendEncode(b, data), nil
	}
}

// unsigned returns an integer of four or eight bytes.
func unsigned(data []byte) uint64 {
	if len(data) == 4 {
		return uint64(binary.LittleEndian.Uint32(data))
	}
	return binary.LittleEndian.Uint64(data)
}

// signed returns a signed integer of four or eight bytes.
func signed(data []byte) int64 {
	if len(data) == 4 {
		return int64(int32(unsigned(data)))
	}
	return int64(unsigned(data))
}

// appendDecimal appends an integer with a decimal point before its last digits. One that is stored as bytes has the most
// significant byte first.
func (l *leafType) appendDecimal(b, data []byte) ([]byte, error) {
	start := len(b)
	switch {
	case l.stored == meta.Int32 || l.stored == meta.Int64:
		b = strconv.AppendInt(b, signed(data), 10)
	case len(data) > maxDecimal:
		return b, fmt.Errorf("a decimal has %d bytes", len(data))
	default:
		n := new(big.Int).SetBytes(data)
		if len(data) > 0 && data[0] >= 0x80 { // two's complement
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(data))))
		}
		b = n.Append(b, 10)
	}
	if l.scale == 0 {
		return b, nil
	}
	if b[start] == '-' {
		start++
	}
	if missing := l.scale + 1 - (len(b) - start); missing > 0 {
		b = slices.Insert(b, start, bytes.Repeat([]byte{'0'}, missing)...)
	}
	return slices.Insert(b, len(b)-l.scale, '.'), nil
}

// half decodes a floating-point number of 16 bits.
func half(h uint16) float64 {
	bits := uint32(h&0x7FFF) << 13
	f := math.Float32frombits(bits) * 0x1p112 // the exponents have biases of 15 and 127
	if h&0x7C00 == 0x7C00 {
		f = math.Float32frombits(bits | 0xFF<<23) // infinite or not a number
	}
	return math.Copysign(float64(f), float64(int16(h)))
}

// appendInterval appends an ISO 8601 duration. Its parts are not carried over, because a month has no fixed length.
func appendInterval(b, data []byte) []byte {
	months, days, millis := unsigned(data[:4]), unsigned(data[4:8]), unsigned(data[8:])
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

// appendTimestamp appends a time by its seconds since 1970.
func (l *leafType) appendTimestamp(b []byte, seconds, fraction int64) []byte {
	b = append(rows.AppendDate(b, time.Unix(seconds, 0).UTC()), 'T')
	_, clock := floorDiv(seconds, secondsPerDay)
	return l.appendClock(b, clock, fraction)
}

// appendClock appends a time of day with all the digits of its unit.
func (l *leafType) appendClock(b []byte, seconds, fraction int64) []byte {
	b = append(rows.AppendClock(b, seconds), '.')
	b = rows.AppendPadded(b, int(fraction), l.digits)
	if l.utc {
		b = append(b, 'Z')
	}
	return b
}

// floorDiv rounds down, so that timestamps before 1970 have a day and a time of day too. The remainder is not negative.
func floorDiv(a, b int64) (quotient, remainder int64) {
	quotient, remainder = a/b, a%b
	if remainder < 0 {
		quotient, remainder = quotient-1, remainder+b
	}
	return quotient, remainder
}
