// Package hist provides a histogram of durations with quantiles of 1 % precision.
package hist

import (
	"math"
	"math/bits"
	"time"
)

// subBits sets the precision: each power of two has 2^subBits buckets.
const subBits = 7

// Histogram counts durations. The zero value is empty and ready.
type Histogram struct {
	counts [(64 - subBits) << subBits]uint32
	n      int
	max    time.Duration
}

// Add counts a duration. A negative one counts as zero.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	h.counts[bucket(uint64(d))]++
	h.n++
	h.max = max(h.max, d)
}

// Merge adds another histogram.
func (h *Histogram) Merge(o *Histogram) {
	for i, c := range o.counts {
		h.counts[i] += c
	}
	h.n += o.n
	h.max = max(h.max, o.max)
}

// Count returns the number of durations.
func (h *Histogram) Count() int { return h.n }

// Quantile returns the q-quantile, or 0 if the histogram is empty.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank := max(1, int(math.Ceil(q*float64(h.n))))
	for i, c := range h.counts {
		if rank -= int(c); rank <= 0 {
			return min(middle(i), h.max)
		}
	}
	return h.max
}

func bucket(v uint64) int {
	if v < 1<<subBits {
		return int(v)
	}
	shift := bits.Len64(v) - subBits - 1
	return shift<<subBits + int(v>>shift)
}

// middle returns the duration in the middle of a bucket.
func middle(i int) time.Duration {
	if i < 2<<subBits {
		return time.Duration(i)
	}
	shift := i>>subBits - 1
	return time.Duration((i-shift<<subBits)<<shift + 1<<shift/2)
}
