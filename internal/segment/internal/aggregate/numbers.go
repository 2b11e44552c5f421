package aggregate

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// numbers are some values of a number field, or the seconds of a duration field.
type numbers struct {
	steps      *guard.Steps
	dictionary *column.Dictionary
	count      int    // number of values
	canonical  []byte // buffer

	// Integers in units of the same decimal place, so that sums are exact; nil if one does not fit.
	// Numbers of any size are not kept in this form, because each would be as long as the longest.
	units    []int64
	decimals []uint16 // decimal places of each value as written
	places   int      // decimal places of a unit
}

// Memory of a value.
const (
	bytesPerNumber = 10
	bytesPerSum    = 80 // of any size
)

// newNumbers decodes the values of some codes.
func newNumbers(st *guard.Steps, d *column.Dictionary, codes []uint32) *numbers {
	st.Reserve(bytesPerNumber * len(codes))
	n := &numbers{steps: st, dictionary: d, count: len(codes), decimals: make([]uint16, len(codes)),
		units: make([]int64, len(codes))}
	value, fits := d.Values(len(codes)), true
	for i, code := range codes {
		digits, decimals := n.decode(value(code))
		n.places = max(n.places, decimals)
		n.decimals[i] = uint16(decimals) // fits, because of text.MaxDigits
		var ok bool
		n.units[i], ok = parseUnits(digits)
		fits = fits && ok
	}
	if !fits || !n.scale() {
		n.units, n.decimals = nil, nil
	}
	return n
}

// decode returns the digits of a number with its sign, and how many of them are decimals. The bytes
// are valid until the next call. Segments of earlier releases may have numbers of any length, which
// take too long to add.
func (n *numbers) decode(value []byte) (digits []byte, decimals int) {
	f := n.dictionary.Field
	var status text.Status
	n.canonical, status = text.AppendCanonical(n.canonical[:0], f, value)
	if status != text.Valid {
		guard.Corrupt("field %q has the value %q, which is not a %s", f.Name, value, f.Type)
	}
	if text.DigitCount(n.canonical) > text.MaxDigits {
		guard.Fail(errTooLong(f))
	}
	return cutPoint(n.canonical)
}

// errTooLong is the error of measures that compute with a number that is too long.
func errTooLong(f *herb.Field) error {
	return herb.Invalidf("field %q has a number of more than %d digits, which cannot be added; valid measures: %s",
		f.Name, text.MaxDigits, strings.Join(query.MeasuresWithoutAddition(), ", "))
}

// scale converts the values from units of their own last decimal place to those of all. It returns
// false if one does not fit.
func (n *numbers) scale() bool {
	for i := range n.units {
		n.steps.Add(1)
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

// powerOfTen returns 10^n.
func powerOfTen(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// sums are the sums of groups.
type sums struct {
	*numbers
	small    []int64    // in units; nil if a sum may not fit
	decimals []uint16   // by group, of the value with the most; nil if small is
	large    []largeSum // replaces small
	squares  *squares   // nil if no measure needs them

	value  func(code uint32) []byte // for large
	last   uint32                   // code of number and places
	number big.Int
	places uint16
	scaled big.Int          // buffer for one number
	powers map[int]*big.Int // of ten, by exponent
}

// largeSum is a sum in units of the last decimal place of its values.
type largeSum struct {
	units  big.Int
	places uint16
}

// newSums returns the sums of some groups of at most n records, which are 0.
func newSums(st *guard.Steps, numbers *numbers, groups, n int) *sums {
	s := &sums{numbers: numbers}
	st.Add(groups)
	if numbers.units != nil && numbers.most() <= math.MaxInt64/int64(max(n, 1)) {
		st.Reserve(bytesPerNumber * groups)
		s.small, s.decimals = make([]int64, groups), make([]uint16, groups)
		return s
	}
	st.Reserve(bytesPerSum * groups)
	s.large, s.last, s.value = make([]largeSum, groups), none, numbers.dictionary.Values(numbers.count)
	s.powers = map[int]*big.Int{}
	return s
}

// most returns the greatest absolute value of units.
func (n *numbers) most() (most int64) {
	n.steps.Add(len(n.units))
	for _, v := range n.units {
		most = max(most, v, -v)
	}
	return most
}

// add adds the value with a code, which is at an index, to the sums of some groups.
func (s *sums) add(i int, code uint32, groups []uint32) {
	if s.small == nil {
		s.addLarge(code, groups)
		return
	}
	value, decimals := s.units[i], s.numbers.decimals[i]
	for _, id := range groups {
		s.small[id] += value
		if s.decimals[id] < decimals {
			s.decimals[id] = decimals
		}
	}
	if s.squares != nil {
		s.squares.addSmall(value, groups)
	}
}

// wordsPerStep is the number of words of a large number that are added in a step.
const wordsPerStep = 16

func (s *sums) addLarge(code uint32, groups []uint32) {
	if code != s.last {
		digits, decimals := s.decode(s.value(code))
		s.number.SetString(string(digits), 10)
		s.last, s.places = code, uint16(decimals)
		if s.squares != nil {
			s.squares.setNumber(&s.number)
		}
	}
	for _, id := range groups {
		sum := &s.large[id]
		if s.squares != nil {
			s.squares.addLarge(s, int(id))
		}
		words := len(sum.units.Bits())
		s.steps.Add(1 + (words+len(s.number.Bits()))/wordsPerStep)
		switch {
		case s.places > sum.places:
			sum.units.Mul(&sum.units, s.power(int(s.places-sum.places)))
			sum.units.Add(&sum.units, &s.number)
			sum.places = s.places
		case s.places < sum.places:
			s.scaled.Mul(&s.number, s.power(int(sum.places-s.places)))
			sum.units.Add(&sum.units, &s.scaled)
		default:
			sum.units.Add(&sum.units, &s.number)
		}
		if grown := len(sum.units.Bits()) - words; grown > 0 {
			s.steps.Reserve(2 * bits.UintSize / 8 * grown) // also while it grows
		}
	}
}

// power is powerOfTen with a cache. Exponents are at most 2*text.MaxDigits.
func (s *sums) power(n int) *big.Int {
	if s.powers[n] == nil {
		s.powers[n] = powerOfTen(n)
	}
	return s.powers[n]
}

// total returns the sum of a group, and the decimal places of its unit.
func (s *sums) total(id int) (units *big.Int, places int) {
	if s.small == nil {
		return &s.large[id].units, int(s.large[id].places)
	}
	return big.NewInt(s.small[id]), s.numbers.places
}

// sum returns the sum of a group in plain decimal notation.
func (s *sums) sum(id int) string {
	if s.small != nil {
		return formatUnits(strconv.FormatInt(s.small[id], 10), s.numbers.places, int(s.decimals[id]))
	}
	units, places := s.total(id)
	return formatUnits(units.String(), places, places)
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
		if mean, ok := divideSmall(s.small[id], uint64(n), s.numbers.places); ok {
			return mean
		}
	}
	units, places := s.total(id)
	q := new(big.Rat).SetFrac(units, new(big.Int).Mul(powerOfTen(places), big.NewInt(int64(n))))
	return roundDigits(q, query.MeanDigits)
}

// roundDigits returns a number in plain decimal notation, rounded half to even to a number of
// significant digits, without zeros at the end of its fraction.
func roundDigits(q *big.Rat, digits int) string {
	if q.Sign() == 0 {
		return "0"
	}
	num, den := new(big.Int).Abs(q.Num()), q.Denom()
	shift := digits - 1 - exponentOf(num, den) // rounded to 10^-shift
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

// exponentOf returns the exponent of the greatest power of ten that is not above num/den, which is
// positive.
func exponentOf(num, den *big.Int) int {
	exponent := len(num.String()) - len(den.String())
	if compareScaled(num, den, exponent) < 0 {
		exponent--
	}
	return exponent
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

// ratio returns the sum of a group divided by that of the same group in another field, rounded to
// query.MeanDigits. It is empty if the other sum is 0.
func (s *sums) ratio(divisor *sums, id int) string {
	if s.small != nil && divisor.small != nil {
		units, n := s.small[id], divisor.small[id]
		if n < 0 {
			units, n = -units, -n
		}
		if n == 0 {
			return ""
		}
		if ratio, ok := divideSmall(units, uint64(n), s.numbers.places-divisor.numbers.places); ok {
			return ratio
		}
	}
	units, places := s.total(id)
	n, otherPlaces := divisor.total(id)
	if n.Sign() == 0 {
		return ""
	}
	q := new(big.Rat).SetFrac(new(big.Int).Mul(units, powerOfTen(otherPlaces)), new(big.Int).Mul(n, powerOfTen(places)))
	return roundDigits(q, query.MeanDigits)
}

// divideSmall returns a number of units of a decimal place divided by n, rounded as roundDigits
// does, in a tenth of its time. places may be negative. ok is false if intermediate numbers do not
// fit in 128 bits.
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
