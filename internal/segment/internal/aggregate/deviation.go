package aggregate

import (
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/guard"
)

// squares are the sums of the squared values of groups. With the sums of the values they determine
// variances exactly: (n-1)n·s² = n·Σx² - (Σx)².
type squares struct {
	steps *guard.Steps
	// In squared units, if sums are small: n values of at most m units have n·m < 2^63, so that Σx²
	// fits in 128 bits.
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
	var spread big.Int // n·Σx² - (Σx)², which is not negative
	sum, places := s.total(id)
	if s.small != nil {
		spread.SetUint64(s.squares.small[id].hi)
		spread.Lsh(&spread, 64)
		spread.Or(&spread, new(big.Int).SetUint64(s.squares.small[id].lo))
		spread.Mul(&spread, big.NewInt(int64(n)))
	} else {
		spread.Mul(&s.squares.large[id], big.NewInt(int64(n)))
	}
	spread.Sub(&spread, new(big.Int).Mul(sum, sum))
	s.steps.Add(1 + len(spread.Bits())*len(spread.Bits())/wordsPerStep)
	return roundRoot(&spread, uint64(n)*uint64(n-1), places)
}

// rootBits is the precision of standard deviations before they are rounded: 48 digits.
const rootBits = 160

// roundRoot returns the square root of num/den in units of a decimal place, rounded half to even to
// query.MeanDigits, without zeros at the end of its fraction.
func roundRoot(num *big.Int, den uint64, places int) string {
	if num.Sign() == 0 {
		return "0"
	}
	root := new(big.Float).SetPrec(rootBits).SetInt(num)
	root.Quo(root, new(big.Float).SetUint64(den))
	digits, exponent, _ := strings.Cut(root.Sqrt(root).Text('e', query.MeanDigits-1), "e")
	power, err := strconv.Atoi(exponent)
	if err != nil {
		guard.Fail(err) // not possible
	}
	return formatRounded(strings.Replace(digits, ".", "", 1), places+query.MeanDigits-1-power, false)
}
