package gen

import "math/bits"

// rng is splitmix64, implemented here so that the same seed gives the same bytes with every version
// of Go.
type rng uint64

func (r *rng) next() uint64 {
	*r += 0x9E3779B97F4A7C15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// below returns a number from 0 to n-1.
func (r *rng) below(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

// skewed returns a number from 0 to n-1; half of the results are in the lowest quarter.
func (r *rng) skewed(n int) int {
	u := r.next() >> 32
	return int(u * u >> 32 * uint64(n) >> 32)
}

// weighted draws numbers by given weights in constant time: Walker's alias method with integers, to
// avoid rounding.
type weighted struct {
	keep  []uint32 // probability, of 2^32, that a column returns itself
	alias []uint16
}

func newWeighted(weights []uint64) weighted {
	n := uint64(len(weights))
	var sum uint64
	for _, w := range weights {
		sum += w
	}
	w := weighted{make([]uint32, n), make([]uint16, n)}
	scaled := make([]uint64, n) // a column is full at sum
	var small, large []int
	for i, x := range weights {
		scaled[i] = x * n
		if scaled[i] < sum {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		share, _ := bits.Div64(scaled[s]>>32, scaled[s]<<32, sum)
		w.keep[s], w.alias[s] = uint32(share), uint16(l)
		scaled[l] -= sum - scaled[s]
		if scaled[l] < sum {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	for _, i := range append(small, large...) {
		w.keep[i], w.alias[i] = 1<<32-1, uint16(i)
	}
	return w
}

func (w *weighted) draw(r *rng) int {
	u := r.next()
	i := u >> 32 * uint64(len(w.keep)) >> 32
	if uint32(u) < w.keep[i] {
		return int(i)
	}
	return int(w.alias[i])
}
