package aggregate

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// numbers are some values of a number field, as integers in units of the same decimal place, so
// that sums are exact.
type numbers struct {
	places   int        // decimal places of a unit
	decimals []uint16   // decimal places of each value as written
	units    []int64    // nil if a value does not fit
	large    []*big.Int // replaces units
}

// newNumbers decodes the values of some codes.
func newNumbers(st *guard.Steps, d *column.Dictionary, codes []uint32) *numbers {
	n := &numbers{decimals: make([]uint16, len(codes)), units: make([]int64, len(codes))}
	var canonical []byte
	decode := func(f func(i int, digits []byte, decimals int)) {
		d.EachValue(st, codes, func(i int, value []byte) {
			var ok bool
			if canonical, ok = text.AppendDecimal(canonical[:0], &d.Field.Notation, value); !ok {
				guard.Corrupt("field %q has the value %q, which is not a number", d.Field.Name, value)
			}
			digits, decimals := cutPoint(canonical)
			f(i, digits, decimals)
		})
	}
	fits := true
	decode(func(i int, digits []byte, decimals int) {
		n.places = max(n.places, decimals)
		n.decimals[i] = uint16(decimals)
		var ok bool
		n.units[i], ok = parseUnits(digits)
		fits = fits && ok
	})
	fits = fits && n.scale()
	if fits {
		return n
	}
	n.units, n.large = nil, make([]*big.Int, len(codes))
	decode(func(i int, digits []byte, decimals int) {
		v, _ := new(big.Int).SetString(string(digits), 10) // digits with a sign
		n.large[i] = v.Mul(v, powerOfTen(n.places-decimals))
	})
	return n
}

// scale converts the values from units of their own last decimal place to those of all. It returns
// false if one does not fit.
func (n *numbers) scale() bool {
	for i := range n.units {
		for range n.places - int(n.decimals[i]) {
			hi, lo := bits.Mul64(uint64(max(n.units[i], -n.units[i])), 10)
			if hi != 0 || lo > maxUnits {
				return false
			}
			n.units[i] *= 10
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
	small    []int64    // in units; nil if a sum may not fit
	large    []*big.Int // replaces small
	decimals []uint16   // of the value with the most
}

// newSums returns the sums of some groups of at most n records, which are 0.
func newSums(numbers *numbers, groups, n int) *sums {
	s := &sums{numbers: numbers, decimals: make([]uint16, groups)}
	if numbers.units != nil && numbers.most() <= math.MaxInt64/int64(max(n, 1)) {
		s.small = make([]int64, groups)
		return s
	}
	for range groups {
		s.large = append(s.large, new(big.Int))
	}
	return s
}

// most returns the greatest absolute value of units.
func (n *numbers) most() (most int64) {
	for _, v := range n.units {
		most = max(most, v, -v)
	}
	return most
}

// add adds the value at an index to the sums of some groups.
func (s *sums) add(i int, groups []uint32) {
	decimals := s.numbers.decimals[i]
	for _, id := range groups {
		if s.decimals[id] < decimals {
			s.decimals[id] = decimals
		}
	}
	if s.small != nil {
		value := s.units[i]
		for _, id := range groups {
			s.small[id] += value
		}
		return
	}
	value := s.value(i)
	for _, id := range groups {
		s.large[id].Add(s.large[id], value)
	}
}

// value returns the value at an index in units.
func (n *numbers) value(i int) *big.Int {
	if n.units == nil {
		return n.large[i]
	}
	return big.NewInt(n.units[i])
}

// total returns the sum of a group in units.
func (s *sums) total(id int) *big.Int {
	if s.small == nil {
		return s.large[id]
	}
	return big.NewInt(s.small[id])
}

// sum returns the sum of a group in plain decimal notation.
func (s *sums) sum(id int) string {
	decimals := int(s.decimals[id])
	if s.small != nil {
		return formatUnits(strconv.FormatInt(s.small[id], 10), s.places, decimals)
	}
	return formatUnits(s.large[id].String(), s.places, decimals)
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
	if s.small != nil {
		if mean, ok := divideSmall(s.small[id], uint64(n), s.places); ok {
			return mean
		}
	}
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
	return formatRounded(whole.String(), shift, q.Sign() < 0)
}

// formatRounded formats digits in units of 10^-shift without zeros at the end of the fraction.
func formatRounded(s string, shift int, negative bool) string {
	if shift > 0 {
		s = strings.TrimRight(formatUnits(s, shift, shift), "0")
		s = strings.TrimSuffix(s, ".")
	} else {
		s += strings.Repeat("0", -shift)
	}
	if negative {
		s = "-" + s
	}
	return s
}

// divideSmall returns a number of units of a decimal place divided by n, rounded as roundDigits
// does, in a tenth of its time. ok is false if intermediate numbers do not fit in 128 bits.
func divideSmall(units int64, n uint64, places int) (mean string, ok bool) {
	const least = 100_000_000_000_000 // that has query.MeanDigits
	const maxPower = 10_000_000_000_000_000_000
	shift, power := places, uint64(1)
	for num := uint64(max(units, -units)); power < maxPower; shift, power = shift+1, power*10 {
		hi, lo := bits.Mul64(num, power)
		if hi >= n {
			return "", false
		}
		whole, rest := bits.Div64(hi, lo, n)
		if whole < least {
			continue // not enough digits
		}
		if whole >= 10*least {
			return "", false
		}
		if 2*rest > n || 2*rest == n && whole%2 == 1 {
			whole++
		}
		return formatRounded(strconv.FormatUint(whole, 10), shift, units < 0), true
	}
	return "", false
}

// compareScaled compares num with den * 10^exponent.
func compareScaled(num, den *big.Int, exponent int) int {
	if exponent >= 0 {
		return num.Cmp(new(big.Int).Mul(den, powerOfTen(exponent)))
	}
	return new(big.Int).Mul(num, powerOfTen(-exponent)).Cmp(den)
}
