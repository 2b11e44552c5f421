package value

import (
	"math/bits"

	"herbarium/internal/herb"
)

// lengths counts values by intervals of their length in characters. Each length up to 31 is an
// interval of its own; above, each power of two is divided into 16 intervals. So the memory grows
// with the logarithm of the longest value.
type lengths []int

const (
	exactBits    = 5                    // lengths of at most exactBits bits are intervals of their own
	perPower     = 1 << (exactBits - 1) // number of intervals of a longer power of two
	maxIntervals = 20                   // maximum number of intervals of a report
)

func (l *lengths) add(length int) {
	shift := max(bits.Len(uint(length))-exactBits, 0)
	at := perPower*shift + length>>shift
	for len(*l) <= at {
		*l = append(*l, 0)
	}
	(*l)[at]++
}

// first returns the least length of an interval.
func (l lengths) first(interval int) int {
	shift := max(interval/perPower-1, 0)
	return (interval - perPower*shift) << shift
}

// report returns the counts between the shortest and the longest length, in at most maxIntervals
// intervals. There are none if all lengths are equal.
func (l lengths) report(shortest, longest int) (counts []herb.LengthCount) {
	from := 0
	for from < len(l) && l[from] == 0 {
		from++
	}
	step := (len(l) - from + maxIntervals - 1) / maxIntervals
	if shortest == longest {
		return nil
	}
	for ; from < len(l); from += step {
		c := herb.LengthCount{From: max(l.first(from), shortest), To: min(l.first(from+step)-1, longest)}
		for _, n := range l[from:min(from+step, len(l))] {
			c.Count += n
		}
		counts = append(counts, c)
	}
	return counts
}
