package aggregate

import (
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// numbers are the values of a number field by code, as integers in units of the same decimal place,
// so that sums are exact.
type numbers struct {
	places   int        // decimal places of a unit
	decimals []uint16   // decimal places of each value as written
	units    []int64    // nil if a value does not fit
	large    []*big.Int // replaces units
}

// newNumbers decodes the values of some codes.
func newNumbers(st *guard.Steps, d *column.Dictionary, codes []uint32) *numbers {
	n := &numbers{decimals: make([]uint16, d.Len), units: make([]int64, d.Len)}
	var canonical []byte
	decode := func(f func(code uint32, digits []byte, decimals int)) {
		d.EachValue(st, codes, func(code uint32, value []byte) {
			var ok bool
			if canonical, ok = text.AppendDecimal(canonical[:0], &d.Field.Notation, value); !ok {
				guard.Corrupt("field %q has the value %q, which is not a number", d.Field.Name, value)
			}
			digits, decimals := cutPoint(canonical)
			f(code, digits, decimals)
		})
	}
	fits := true
	decode(func(code uint32, digits []byte, decimals int) {
		n.places = max(n.places, decimals)
		n.decimals[code] = uint16(decimals)
		var ok bool
		n.units[code], ok = parseUnits(digits)
		fits = fits && ok
	})
	fits = fits && n.scale(codes)
	if fits {
		return n
	}
	n.units, n.large = nil, make([]*big.Int, d.Len)
	decode(func(code uint32, digits []byte, decimals int) {
		v, _ := new(big.Int).SetString(string(digits), 10) // digits with a sign
		n.large[code] = v.Mul(v, powerOfTen(n.places-decimals))
	})
	return n
}

// scale converts the values from units of their own last decimal place to those of all. It returns
// false if one does not fit.
func (n *numbers) scale(codes []uint32) bool {
	for _, code := range codes {
		for range n.places - int(n.decimals[code]) {
			hi, lo := bits.Mul64(uint64(max(n.units[code], -n.units[code])), 10)
			if hi != 0 || lo > maxUnits {
				return false
			}
			n.units[code] *= 10
		}
	}
	return true
}

// maxUnits is the greatest absolute value of units.
const maxUnits = 1<<62 - 1

// cutPoint removes the decimal point of a number, in place, and returns the number of decimals.
func cutPoint(canonical []byte) (digits []byte, decimals int) {
	for i, c := range canonical {
		if c == '.' {
			return append(canonical[:i], canonical[i+1:]...), len(canonical) - i - 1
		}
	}
	return canonical, 0
}

// parseUnits parses digits with an optional minus sign. ok is false if the number is too large.
func parseUnits(digits []byte) (units int64, ok bool) {
	const maxDigits = 18
	negative := digits[0] == '-'
	if negative {
		digits = digits[1:]
	}
	if len(digits) > maxDigits {
		return 0, false
	}
	for _, c := range digits {
		units = 10*units + int64(c-'0')
	}
	if negative {
		units = -units
	}
	return units, true
}

func powerOfTen(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// sums are the sums of groups.
type sums struct {
	*numbers
	totals   []wide
	large    []*big.Int // replaces totals if numbers are large
	decimals []uint16   // of the value with the most
}

// wide is a signed integer of 128 bits, which the sum of 2^32 numbers never exceeds.
type wide struct {
	hi int64
	lo uint64
}

func newSums(n *numbers) *sums { return &sums{numbers: n} }

// grow adds groups.
func (s *sums) grow(more int) {
	s.decimals = append(s.decimals, make([]uint16, more)...)
	if s.units != nil {
		s.totals = append(s.totals, make([]wide, more)...)
		return
	}
	for range more {
		s.large = append(s.large, new(big.Int))
	}
}

// add adds the values of some records to the sums of their groups.
func (s *sums) add(ids, codes []uint32, missing uint32) {
	for i, code := range codes {
		if code == missing {
			continue
		}
		id := ids[i]
		s.decimals[id] = max(s.decimals[id], s.numbers.decimals[code])
		if s.units == nil {
			s.large[id].Add(s.large[id], s.numbers.large[code])
			continue
		}
		t, v := &s.totals[id], s.units[code]
		var carry uint64
		t.lo, carry = bits.Add64(t.lo, uint64(v), 0)
		t.hi += v>>63 + int64(carry)
	}
}

// total returns the sum of a group in units.
func (s *sums) total(id int) *big.Int {
	if s.units == nil {
		return s.large[id]
	}
	t := s.totals[id]
	v := new(big.Int).Lsh(big.NewInt(t.hi), 64)
	return v.Add(v, new(big.Int).SetUint64(t.lo))
}

// sum returns the sum of a group in plain decimal notation.
func (s *sums) sum(id int) string {
	decimals := int(s.decimals[id])
	if s.units != nil {
		if t := s.totals[id]; t.hi == int64(t.lo)>>63 {
			return formatUnits(strconv.FormatInt(int64(t.lo), 10), s.places, decimals)
		}
	}
	return formatUnits(s.total(id).String(), s.places, decimals)
}

// formatUnits formats an integer in units of a decimal place with a number of decimals, which must
// not be fewer than it needs.
func formatUnits(digits string, places, decimals int) string {
	digits, negative := strings.CutPrefix(digits, "-")
	if missing := places + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - places
	s := digits[:point]
	if decimals > 0 {
		s += "." + digits[point:point+decimals]
	}
	if negative {
		s = "-" + s
	}
	return s
}

// mean returns the mean of a group of n values, rounded to query.MeanDigits.
func (s *sums) mean(id int, n uint32) string {
	q := new(big.Rat).SetFrac(s.total(id), new(big.Int).Mul(powerOfTen(s.places), big.NewInt(int64(n))))
	return roundDigits(q, query.MeanDigits)
}

// roundDigits returns a number in plain decimal notation, rounded half to even to a number of
// significant digits, without zeros at the end of its fraction.
func roundDigits(q *big.Rat, digits int) string {
	if q.Sign() == 0 {
		return "0"
	}
	num, den := new(big.Int).Abs(q.Num()), q.Denom()
	// The number is at least 10^exponent, and less than ten times that.
	exponent := len(num.String()) - len(den.String())
	if compareScaled(num, den, exponent) < 0 {
		exponent--
	}
	shift := digits - 1 - exponent // rounded to 10^-shift
	if shift >= 0 {
		num.Mul(num, powerOfTen(shift))
	} else {
		den = new(big.Int).Mul(den, powerOfTen(-shift))
	}
	whole, rest := num.QuoRem(num, den, new(big.Int))
	if c := rest.Lsh(rest, 1).Cmp(den); c > 0 || c == 0 && whole.Bit(0) == 1 {
		whole.Add(whole, big.NewInt(1))
	}
	s := whole.String()
	if shift > 0 {
		s = strings.TrimRight(formatUnits(s, shift, shift), "0")
		s = strings.TrimSuffix(s, ".")
	} else {
		s += strings.Repeat("0", -shift)
	}
	if q.Sign() < 0 {
		s = "-" + s
	}
	return s
}

// compareScaled compares num with den * 10^exponent.
func compareScaled(num, den *big.Int, exponent int) int {
	if exponent >= 0 {
		return num.Cmp(new(big.Int).Mul(den, powerOfTen(exponent)))
	}
	return new(big.Int).Mul(num, powerOfTen(-exponent)).Cmp(den)
}
