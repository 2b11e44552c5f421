package columns

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"sync"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// When the numbers of two columns of a sample correlate clearly.
const (
	clearCorrelation = .6   // least rank correlation
	copyCorrelation  = .995 // of columns that repeat each other, such as degrees Celsius and Fahrenheit
	leastCorrelated  = 20   // records with both numbers
	leastValues      = 10   // distinct ones of a column: fewer are rows of points
	orderCorrelation = .99  // of identifiers with the positions of their records
)

// correlation is the pair of number columns of a version that correlate best. It depends on the
// values, so a sample of them is read when it is needed first.
type correlation struct {
	mu    sync.Mutex
	known bool
	x, y  int
	found bool
}

// ReadCorrelation finds the number columns that correlate best in the records that sample returns,
// in the order of the dataset. It does so once per version; other calls do nothing.
func (d *Dataset) ReadCorrelation(sample func() ([]herb.Record, error)) error {
	c := &d.correlation
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known {
		return nil
	}
	if fields := d.measured(); len(fields) > 1 {
		records, err := sample()
		if err != nil {
			return err
		}
		c.x, c.y, c.found = d.correlate(fields, records)
	}
	c.known = true
	return nil
}

// Correlated returns the columns of the axes of a scatter plot whose numbers correlate clearly; ok
// is false if there are none, or if it is not known.
func (c *Columns) Correlated() (x, y int, ok bool) {
	c.correlation.mu.Lock()
	defer c.correlation.mu.Unlock()
	return c.correlation.x, c.correlation.y, c.correlation.found
}

// measured returns the columns whose numbers can correlate, in the order of the dataset:
// quantities with several values that do not number records.
func (d *Dataset) measured() []int {
	fields := slices.DeleteFunc(newChartAxes(d).quantities, func(i int) bool {
		r := d.Meanings[i].Report
		return d.Fields[i].Type != herb.TypeNumber || r == nil || r.Distinct < leastValues || isSequence(r)
	})
	slices.Sort(fields)
	return fields
}

// correlate returns the pair of fields with the highest rank correlation in a sample, weighted by
// the share of the records that have both numbers. It is one of sixteen columns at most, which do
// not measure the same.
func (d *Dataset) correlate(fields []int, sample []herb.Record) (x, y int, ok bool) {
	positions := make([]float64, len(sample))
	for n := range positions {
		positions[n] = float64(n)
	}
	var all [][]float64 // ranks, by column
	var of []int        // the field of each
	for _, i := range fields {
		numbers := numbersOf(&d.Fields[i], sample, i)
		r := d.Meanings[i].Report
		if order, _ := correlationOf(numbers, positions); r.Distinct == r.Filled && r.Decimals == 0 && math.Abs(order) >= orderCorrelation {
			continue // identifiers in the order of their records
		}
		all, of = append(all, ranks(numbers)), append(of, i)
	}
	best := 0.0
	for a := range all {
		for b := a + 1; b < len(all); b++ {
			rank, n := correlationOf(all[a], all[b])
			rank = math.Abs(rank)
			score := rank * float64(n) / float64(len(sample))
			if n >= leastCorrelated && rank >= clearCorrelation && rank < copyCorrelation && score > best && !d.isAlike(of[a], of[b]) {
				best, x, y, ok = score, of[a], of[b], true
			}
		}
	}
	if ok && isResult(d.Fields[x].Name) && !isResult(d.Fields[y].Name) {
		x, y = y, x
	}
	return x, y, ok
}

// numbersOf returns the numbers of a field in records; NaN for a missing one.
func numbersOf(f *herb.Field, records []herb.Record, at int) []float64 {
	numbers := make([]float64, len(records))
	for n, record := range records {
		numbers[n] = math.NaN()
		if canonical, status := text.Canonical(f, record[at]); status == text.Valid {
			numbers[n], _ = strconv.ParseFloat(canonical, 64) // infinite beyond its range
		}
	}
	return numbers
}

// ranks returns the rank of each number among all, which is the same for equal ones; NaN for a
// missing one.
func ranks(numbers []float64) []float64 {
	order := make([]int, 0, len(numbers))
	out := make([]float64, len(numbers))
	for n, x := range numbers {
		if out[n] = math.NaN(); !math.IsNaN(x) {
			order = append(order, n)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(numbers[a], numbers[b]) })
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && numbers[order[to]] == numbers[order[from]] {
			to++
		}
		for _, n := range order[from:to] {
			out[n] = float64(from+to-1) / 2
		}
		from = to
	}
	return out
}

// correlationOf returns the correlation of the pairs of numbers that are both known, and how many
// there are. It is 0 if one of the columns has one value.
func correlationOf(xs, ys []float64) (r float64, n int) {
	var meanX, meanY, xx, yy, xy float64
	for i, x := range xs {
		y := ys[i]
		if math.IsNaN(x) || math.IsNaN(y) || math.IsInf(x, 0) || math.IsInf(y, 0) {
			continue
		}
		n++
		dx, dy := x-meanX, y-meanY
		meanX += dx / float64(n)
		meanY += dy / float64(n)
		xx += dx * (x - meanX)
		yy += dy * (y - meanY)
		xy += dx * (y - meanY)
	}
	if r = xy / math.Sqrt(xx*yy); math.IsNaN(r) || math.IsInf(r, 0) {
		return 0, n
	}
	return r, n
}
