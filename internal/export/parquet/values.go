package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"strconv"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/text"
	"herbarium/internal/typed"
)

// errFacts means that a value does not fit the type that the facts of its column have decided.
var errFacts = errors.New("a value does not fit the type of its column")

// appendFixed appends a canonical value in the plain encoding of a column of fixed size. Booleans
// have a byte each, which pages pack.
func appendFixed(dst []byte, c typed.Column, canonical []byte) ([]byte, error) {
	switch c.Kind {
	case typed.Boolean:
		if canonical[0] == 't' { // true
			return append(dst, 1), nil
		}
		return append(dst, 0), nil
	case typed.Double:
		d, err := strconv.ParseFloat(string(canonical), 64)
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(d)), err
	case typed.Int64:
		n, err := strconv.ParseInt(string(canonical), 10, 64)
		return binary.LittleEndian.AppendUint64(dst, uint64(n)), err
	case typed.Decimal:
		return appendDecimal(dst, c, canonical)
	case typed.Time:
		return appendTime(dst, c, canonical)
	}
	return dst, errFacts
}

// appendDecimal appends the unscaled value of a number in plain decimal notation.
func appendDecimal(dst []byte, c typed.Column, decimal []byte) ([]byte, error) {
	unsigned := bytes.TrimPrefix(decimal, []byte{'-'})
	whole, fraction, _ := bytes.Cut(unsigned, []byte{'.'})
	if len(fraction) > c.Scale { // by zeros
		fraction = fraction[:c.Scale]
	}
	var high, low uint64
	add := func(digit byte) {
		carry, product := bits.Mul64(low, 10)
		sum, over := bits.Add64(product, uint64(digit-'0'), 0)
		high, low = high*10+carry+over, sum
	}
	for _, d := range whole {
		add(d)
	}
	for i := range c.Scale {
		d := byte('0')
		if i < len(fraction) {
			d = fraction[i]
		}
		add(d)
	}
	if len(unsigned) < len(decimal) { // two's complement
		var carry uint64
		low, carry = bits.Add64(^low, 1, 0)
		high, _ = bits.Add64(^high, 0, carry)
	}
	if c.Precision <= int64Digits {
		return binary.LittleEndian.AppendUint64(dst, low), nil
	}
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, high), low), nil
}

// appendTime appends the time since midnight of a canonical time of day.
func appendTime(dst []byte, c typed.Column, canonical []byte) ([]byte, error) {
	t, err := time.Parse("15:04:05.999999999", string(canonical))
	if err != nil {
		return dst, err
	}
	sinceMidnight := time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute +
		time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	if !c.Nanos {
		sinceMidnight /= time.Microsecond
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(sinceMidnight)), nil
}

// appendMoment appends a date or a datetime as written.
func appendMoment(dst []byte, c typed.Column, field *herb.Field, value []byte) ([]byte, error) {
	t, _, ok := text.ParseDateTime(field, value)
	switch {
	case !ok:
		return dst, errFacts
	case c.Kind == typed.Date:
		const day = 24 * 60 * 60
		return binary.LittleEndian.AppendUint32(dst, uint32(t.Unix()/day)), nil // a multiple, also before 1970
	case c.Nanos:
		return binary.LittleEndian.AppendUint64(dst, uint64(t.UnixNano())), nil
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(t.UnixMicro())), nil
}
