package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"

	"herbarium/internal/typed"
)

// maxBound is the maximum number of bytes of a bound of texts.
const maxBound = 64

// bounds are the least and the greatest of some values.
type bounds struct {
	least, greatest []byte // nil if there are no values; part of the buffer of the column
	missing         int
}

// add adds a value.
func (s *bounds) add(b *columnBuffer, v []byte) {
	if s.least == nil || compare(b.Column, v, s.least) < 0 {
		s.least = v[:len(v):len(v)]
	}
	if s.greatest == nil || compare(b.Column, v, s.greatest) > 0 {
		s.greatest = v[:len(v):len(v)]
	}
}

// merge adds the values of other bounds.
func (s *bounds) merge(b *columnBuffer, o bounds) {
	if o.least != nil {
		s.add(b, o.least)
		s.add(b, o.greatest)
	}
	s.missing += o.missing
}

// compare compares two values of a column in the order of its type.
func compare(c typed.Column, x, y []byte) int {
	switch _, size := physical(c); {
	case c.Kind == typed.Double:
		a, b := math.Float64frombits(binary.LittleEndian.Uint64(x)), math.Float64frombits(binary.LittleEndian.Uint64(y))
		switch {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	case size == 4:
		return compareInts(int64(int32(binary.LittleEndian.Uint32(x))), int64(int32(binary.LittleEndian.Uint32(y))))
	case size == 8:
		return compareInts(int64(binary.LittleEndian.Uint64(x)), int64(binary.LittleEndian.Uint64(y)))
	case size == fixedDecimal && x[0]&0x80 != y[0]&0x80:
		return int(y[0]&0x80) - int(x[0]&0x80) // the negative one is less
	}
	return bytes.Compare(x, y)
}

func compareInts(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// lower returns the least value, or a shorter bound.
func (s *bounds) lower(c typed.Column) []byte {
	if c.Kind == typed.Double {
		return zeroBound(s.least, math.Copysign(0, -1))
	}
	if len(s.least) <= maxBound || !isBytes(c) {
		return s.least
	}
	return cutText(s.least)
}

// upper returns the greatest value, or a shorter bound. ok is false if there is none.
func (s *bounds) upper(c typed.Column) (bound []byte, ok bool) {
	if c.Kind == typed.Double {
		return zeroBound(s.greatest, 0), true
	}
	if len(s.greatest) <= maxBound || !isBytes(c) {
		return s.greatest, true
	}
	cut := bytes.Clone(cutText(s.greatest))
	for len(cut) > 0 { // the next text after all that begin with cut
		r, size := utf8.DecodeLastRune(cut)
		cut = cut[:len(cut)-size]
		if next := r + 1; r != utf8.RuneError && utf8.ValidRune(next) && utf8.RuneLen(next) == size {
			return utf8.AppendRune(cut, next), true
		}
	}
	return nil, false
}

func isBytes(c typed.Column) bool { return c.Kind == typed.Text || c.Kind == typed.List }

// zeroBound returns a double, where a zero has a certain sign: readers compare zeros differently.
func zeroBound(v []byte, zero float64) []byte {
	if math.Float64frombits(binary.LittleEndian.Uint64(v)) != 0 {
		return v
	}
	return binary.LittleEndian.AppendUint64(nil, math.Float64bits(zero))
}

// cutText returns the beginning of a text, up to maxBound bytes.
func cutText(v []byte) []byte {
	n := maxBound
	for n > 0 && !utf8.RuneStart(v[n]) {
		n--
	}
	return v[:n]
}
