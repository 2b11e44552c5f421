package aggregate

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/guard"
)

// squares are the sums of the squared values of groups. With the sums of the values they determine
// standard deviations exactly: (n-1)n·s² = n·Σx² - (Σx)².
type squares struct {
	steps *guard.Steps
	// In squared units, if sums are small: n values of at most m units have n·m < 2^63, and
	// m < 2^62, so that n·Σx² fits in 128 bits.
	small []uint128
	large []big.Int // in squared units of the sum of the group; replaces small

	square, scaled big.Int // of the number that is added
}

type uint128 struct{ hi, lo uint64 }

// Memory of the squares of a group.
const (
	bytesPerSmallSquares = 16
	bytesPerLargeSquares = 40
)

// addSquares lets s add squares as well.
func (s *sums) addSquares(st *guard.Steps) {
	q := &squares{steps: st}
	if groups := len(s.small); s.small != nil {
		st.Reserve(bytesPerSmallSquares * groups)
		q.small = make([]uint128, groups)
	} else {
		st.Reserve(bytesPerLargeSquares * len(s.large))
		q.large = make([]big.Int, len(s.large))
	}
	s.squares = q
}

// addSmall adds the square of a number of units to some groups.
func (q *squares) addSmall(value int64, groups []uint32) {
	magnitude := uint64(max(value, -value))
	hi, lo := bits.Mul64(magnitude, magnitude)
	for _, id := range groups {
		sum, carry := &q.small[id], uint64(0)
		sum.lo, carry = bits.Add64(sum.lo, lo, 0)
		sum.hi += hi + carry
	}
}

// setNumber sets the number that addLarge adds.
func (q *squares) setNumber(n *big.Int) {
	words := len(n.Bits())
	q.steps.Add(1 + words*words/wordsPerStep)
	q.square.Mul(n, n)
}

// addLarge adds the square of the current number of s to a group, before s adds the number itself.
func (q *squares) addLarge(s *sums, id int) {
	sum, places := &q.large[id], s.large[id].places
	words := len(sum.Bits())
	q.steps.Add(1 + (words+len(q.square.Bits()))/wordsPerStep)
	switch {
	case s.places > places:
		sum.Mul(sum, s.power(2*int(s.places-places)))
		sum.Add(sum, &q.square)
	case s.places < places:
		q.scaled.Mul(&q.square, s.power(2*int(places-s.places)))
		sum.Add(sum, &q.scaled)
	default:
		sum.Add(sum, &q.square)
	}
	if grown := len(sum.Bits()) - words; grown > 0 {
		q.steps.Reserve(2 * bits.UintSize / 8 * grown) // also while it grows
	}
}

// deviation returns the sample standard deviation of a group of n values, rounded to
// query.MeanDigits. It is empty for fewer than two values.
func (s *sums) deviation(id int, n uint32) string {
	if n < 2 {
		return ""
	}
	pairs := uint64(n) * uint64(n-1)
	if s.small != nil {
		v := s.squares.small[id].spread(s.small[id], uint64(n))
		if root, ok := rootSmall(v, pairs, s.numbers.places); ok {
			return root
		}
		num := new(big.Int).SetUint64(v.hi)
		num.Add(num.Lsh(num, 64), new(big.Int).SetUint64(v.lo))
		return roundRoot(num, new(big.Int).SetUint64(pairs), s.numbers.places)
	}
	sum, places := s.total(id)
	num := new(big.Int).Mul(&s.squares.large[id], big.NewInt(int64(n)))
	num.Sub(num, new(big.Int).Mul(sum, sum))
	s.steps.Add(len(num.Bits()) * len(num.Bits()) / wordsPerStep)
	return roundRoot(num, new(big.Int).SetUint64(pairs), places)
}

// spread returns n·Σx² - (Σx)², which is not negative.
func (sum uint128) spread(total int64, n uint64) (v uint128) {
	hi, lo := bits.Mul64(sum.lo, n)
	hi += sum.hi * n
	magnitude := uint64(max(total, -total))
	totalHi, totalLo := bits.Mul64(magnitude, magnitude)
	var borrow uint64
	v.lo, borrow = bits.Sub64(lo, totalLo, 0)
	v.hi, _ = bits.Sub64(hi, totalHi, borrow)
	return v
}

// roundRoot returns the square root of num/den in units of a decimal place, rounded half to even to
// query.MeanDigits, without zeros at the end of its fraction. It changes its arguments.
func roundRoot(num, den *big.Int, places int) string {
	if num.Sign() == 0 {
		return "0"
	}
	exponent := exponentOf(num, den) >> 1 // of the root; rounds down
	shift := query.MeanDigits - 1 - exponent
	if shift >= 0 {
		num.Mul(num, powerOfTen(2*shift))
	} else {
		den.Mul(den, powerOfTen(-2*shift))
	}
	whole := new(big.Int).Div(num, den)
	whole.Sqrt(whole)
	middle := new(big.Int).Lsh(whole, 1) // twice the number between whole and the next one
	middle.Add(middle, big.NewInt(1))
	middle.Mul(middle, middle).Mul(middle, den)
	if c := num.Lsh(num, 2).Cmp(middle); c > 0 || c == 0 && whole.Bit(0) == 1 {
		whole.Add(whole, big.NewInt(1))
	}
	return formatRounded(whole.String(), places+shift, false)
}

// rootSmall returns the same as roundRoot without memory for intermediate numbers: it estimates the
// digits with doubles and compares them exactly. ok is false if the numbers do not fit.
func rootSmall(num uint128, den uint64, places int) (root string, ok bool) {
	const least, maxShift = 100_000_000_000_000, 19 // least has query.MeanDigits; 10^maxShift fits in 64 bits
	if num == (uint128{}) {
		return "0", true
	}
	estimate := math.Sqrt((float64(num.hi)*(1<<64) + float64(num.lo)) / float64(den))
	shift := query.MeanDigits - 1 - int(math.Floor(math.Log10(estimate)))
	if shift < 0 || shift > maxShift {
		return "", false
	}
	power := uint64(1)
	for range shift {
		power *= 10
	}
	whole := uint64(math.Round(estimate * float64(power)))
	if whole <= least || whole >= 10*least-1 { // at its ends, the estimate may have another number of digits
		return "", false
	}
	scaled := wide{num.lo, num.hi}.times(power).times(power).times(4)
	// middle compares the root with the number between n-1 and n.
	middle := func(n uint64) int {
		hi, lo := bits.Mul64(2*n-1, 2*n-1)
		return scaled.compare(wide{lo, hi}.times(den))
	}
	for range 2 { // the estimate is next to the root
		if c := middle(whole); c < 0 || c == 0 && whole%2 == 1 {
			whole--
		} else if c := middle(whole + 1); c > 0 || c == 0 && whole%2 == 1 {
			whole++
		} else {
			return formatRounded(strconv.FormatUint(whole, 10), places+shift, false), true
		}
	}
	return "", false
}

// wide is an integer of 256 bits, the lowest first.
type wide [4]uint64

// times returns x·n, which must fit.
func (x wide) times(n uint64) (product wide) {
	carry := uint64(0)
	for i, word := range x {
		hi, lo := bits.Mul64(word, n)
		var c uint64
		product[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	return product
}

func (x wide) compare(y wide) int {
	for i := len(x) - 1; i >= 0; i-- {
		if x[i] != y[i] {
			return cmp.Compare(x[i], y[i])
		}
	}
	return 0
}
