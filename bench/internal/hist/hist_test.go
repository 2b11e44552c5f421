package hist_test

import (
	"math"
	"testing"
	"time"

	"herbarium/bench/internal/hist"
)

func TestHistogram(t *testing.T) {
	t.Parallel()
	var all, low, high hist.Histogram
	for i := range 100_000 {
		d := time.Duration(i+1) * 731
		all.Add(d)
		if i < 50_000 {
			low.Add(d)
		} else {
			high.Add(d)
		}
	}
	low.Merge(&high)
	for _, h := range []*hist.Histogram{&all, &low} {
		if h.Count() != 100_000 {
			t.Errorf("count %d", h.Count())
		}
		for _, q := range []float64{0.0001, 0.01, 0.5, 0.99, 0.999, 1} {
			want := q * 100_000 * 731
			if got := float64(h.Quantile(q)); math.Abs(got-want) > want/100 {
				t.Errorf("quantile %v is %v; want %v", q, got, want)
			}
		}
	}
}

func TestHistogram_extremes(t *testing.T) {
	t.Parallel()
	var h hist.Histogram
	if h.Quantile(0.5) != 0 || h.Count() != 0 {
		t.Error("an empty histogram is not empty")
	}
	for _, d := range []time.Duration{-1, 0, 1, math.MaxInt64} {
		h.Add(d)
	}
	if h.Quantile(0.5) != 0 || h.Quantile(0.75) != 1 || h.Quantile(1) < math.MaxInt64/256*255 {
		t.Errorf("quantiles %d, %d, %d", h.Quantile(0.5), h.Quantile(0.75), h.Quantile(1))
	}
}
