package query_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/testseed"
)

// TestBuckets_reference compares the edges of random histograms with those of a simple
// implementation.
func TestBuckets_reference(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(testseed.Seed(t), 0))
	for range 300 {
		most := query.MinBuckets + r.IntN(30)
		low, high := randomNumbers(r)
		f := herb.Field{Type: herb.TypeNumber}
		if got, want := edgesOf(t, query.Buckets(f, low, high, most)),
			numberEdges(rat(low), rat(high), most); got != strings.Join(want, " ") {
			t.Fatalf("numbers from %s to %s in %d buckets: %s\nwant %v", low, high, most, got, want)
		}
		from := time.Unix(r.Int64N(4e9)-2e9, int64(r.IntN(2))).UTC()
		to := from.Add(time.Duration(r.Int64N(1 << (20 + r.IntN(43)))))
		for typ, format := range map[herb.Type]string{herb.TypeDate: time.DateOnly,
			herb.TypeDateTime: time.RFC3339Nano} {
			low, high := from.Format(format), to.Format(format)
			least, err := time.Parse(format, low)
			greatest, err2 := time.Parse(format, high)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			want := strings.Join(timeEdges(typ, least, greatest, most), " ")
			if got := edgesOf(t, query.Buckets(herb.Field{Type: typ}, low, high, most)); got != want {
				t.Fatalf("%s from %s to %s in %d buckets: %s\nwant %s", typ, low, high, most, got, want)
			}
		}
	}
}

// TestLogBuckets_reference compares the edges of random logarithmic histograms with those of a
// simple implementation.
func TestLogBuckets_reference(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(testseed.Seed(t), 0))
	for range 300 {
		most := query.MinBuckets + r.IntN(30)
		var values []string
		for range 1 + r.IntN(3) {
			low, high := randomNumbers(r)
			values = append(values, low, high)
		}
		if r.IntN(3) == 0 { // of one sign only
			for i := range values {
				values[i] = strings.TrimPrefix(values[i], "-")
			}
		}
		slices.SortFunc(values, func(a, b string) int { return rat(a).Cmp(rat(b)) })
		span := query.Range{Min: values[0], Max: values[len(values)-1]}
		var numbers []*big.Rat
		for _, v := range values {
			n := rat(v)
			numbers = append(numbers, n)
			if n.Sign() < 0 {
				span.GreatestNegative = v
			} else if n.Sign() > 0 && span.LeastPositive == "" {
				span.LeastPositive = v
			}
		}
		want := strings.Join(logEdges(numbers, most), " ")
		if got := edgesOf(t, query.LogBuckets(herb.Field{Type: herb.TypeNumber}, span, most)); got != want {
			t.Fatalf("%+v in %d buckets: %s\nwant %s", span, most, got, want)
		}
	}
}

// randomNumbers returns two numbers of any magnitude, the smaller first.
func randomNumbers(r *rand.Rand) (low, high string) {
	number := func() string {
		if r.IntN(10) == 0 {
			return "0"
		}
		s := strconv.Itoa(r.IntN(2000) - 1000)
		switch r.IntN(3) {
		case 0:
			s = fmt.Sprintf("%s.%d", s, r.IntN(1000))
		case 1:
			s += strings.Repeat("0", r.IntN(12))
		}
		if s[0] == '0' && len(s) > 1 && s[1] != '.' {
			s = "0"
		}
		return s
	}
	low, high = number(), number()
	if rat(low).Cmp(rat(high)) > 0 {
		return high, low
	}
	return low, high
}

func rat(s string) *big.Rat {
	n, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return n
}

// numberEdges tries steps of 1, 2, 5, 10 and so on, in units of the last significant decimal place.
func numberEdges(least, greatest *big.Rat, most int) []string {
	places := 0
	for _, v := range []*big.Rat{least, greatest} {
		p, digits := precision(v)
		if digits > query.MaxEdgeDigits {
			return nil
		}
		places = max(places, p)
	}
	unit := big.NewRat(1, 1)
	for range places {
		unit.Mul(unit, big.NewRat(1, 10))
	}
	for ; ; unit.Mul(unit, big.NewRat(10, 1)) {
		for _, factor := range []int64{1, 2, 5} {
			step := new(big.Rat).Mul(unit, big.NewRat(factor, 1))
			first, last := floor(least, step), floor(greatest, step)
			count := new(big.Int).Sub(last, first)
			if count.Cmp(big.NewInt(int64(most))) >= 0 {
				continue
			}
			var edges []string
			for i := first; i.Cmp(last) <= 0; i.Add(i, big.NewInt(1)) {
				edges = append(edges, plain(step, i, places))
			}
			return append(edges, plain(step, last.Add(last, big.NewInt(1)), places))
		}
	}
}

// precision returns the number of decimal places and of digits of a number.
func precision(v *big.Rat) (places, digits int) {
	for scaled := new(big.Rat).Set(v); !scaled.IsInt(); scaled.Mul(scaled, big.NewRat(10, 1)) {
		places++
	}
	return places, len(strings.NewReplacer("-", "", ".", "").Replace(v.FloatString(places)))
}

// logEdges tries the sequences of round numbers on both sides of zero, finest first. Values are in
// ascending order.
func logEdges(values []*big.Rat, most int) []string {
	var negative, positive []*big.Rat // magnitudes
	zero := false
	for _, v := range values {
		switch v.Sign() {
		case -1:
			negative = append(negative, new(big.Rat).Neg(v))
		case 0:
			zero = true
		case 1:
			positive = append(positive, v)
		}
	}
	var extremes []*big.Rat
	for _, side := range [][]*big.Rat{negative, positive} {
		if len(side) > 0 {
			extremes = append(extremes, side[0], side[len(side)-1])
		}
	}
	for _, v := range extremes {
		if _, digits := precision(v); digits > query.MaxEdgeDigits {
			return nil
		}
	}
	if len(extremes) == 0 {
		return nil
	}
	slices.SortFunc(negative, (*big.Rat).Cmp)
	for _, s := range logSequences() {
		// The edges are those of the values nearest to and farthest from zero: not above the one,
		// above the other.
		var edges []string
		if len(negative) > 0 {
			around := s.around(negative[0], negative[len(negative)-1], most)
			if zero || len(positive) > 0 {
				around = around[1:] // the bucket next to zero ends there
			}
			for _, b := range slices.Backward(around) {
				edges = append(edges, "-"+b)
			}
		}
		if zero || len(negative) > 0 && len(positive) > 0 {
			edges = append(edges, "0")
		}
		if len(positive) > 0 {
			edges = append(edges, s.around(positive[0], positive[len(positive)-1], most)...)
		}
		if len(edges)-1 <= most {
			return edges
		}
	}
	return nil
}

// logSequence is the numbers times every power of ten whose exponent is a multiple of decades.
type logSequence struct {
	numbers []*big.Rat
	decades int
}

// logSequences returns all sequences, finest first.
func logSequences() []logSequence {
	one := []*big.Rat{big.NewRat(1, 1)}
	sequences := []logSequence{
		{[]*big.Rat{one[0], big.NewRat(3, 2), big.NewRat(2, 1), big.NewRat(3, 1), big.NewRat(5, 1), big.NewRat(7, 1)},
			1},
		{[]*big.Rat{one[0], big.NewRat(2, 1), big.NewRat(5, 1)}, 1},
	}
	for _, decades := range []int{1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000} {
		sequences = append(sequences, logSequence{one, decades})
	}
	return sequences
}

// around returns the numbers of the sequence that enclose a range: from the largest that is not
// above its minimum to the smallest above its maximum. It stops early if there are too many.
func (s logSequence) around(least, greatest *big.Rat, most int) (edges []string) {
	step := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(s.decades)), nil))
	power := big.NewRat(1, 1)
	for power.Cmp(least) > 0 {
		power.Quo(power, step)
	}
	for next := new(big.Rat).Mul(power, step); next.Cmp(least) <= 0; next.Mul(next, step) {
		power.Set(next)
	}
	for ; ; power.Mul(power, step) {
		for _, n := range s.numbers {
			v := new(big.Rat).Mul(power, n)
			if v.Cmp(least) <= 0 {
				edges = nil
			}
			places, _ := precision(v)
			edges = append(edges, v.FloatString(places))
			if v.Cmp(greatest) > 0 || len(edges) > most+2 {
				return edges
			}
		}
	}
}

// floor returns n divided by step, rounded toward negative infinity.
func floor(n, step *big.Rat) *big.Int {
	q := new(big.Rat).Quo(n, step)
	return new(big.Int).Div(q.Num(), q.Denom())
}

// plain formats a multiple of a step.
func plain(step *big.Rat, times *big.Int, places int) string {
	s := new(big.Rat).Mul(step, new(big.Rat).SetInt(times)).FloatString(places)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// timeEdges tries a day, a week, a month, a quarter, and years; for datetimes first minutes and
// hours.
func timeEdges(t herb.Type, least, greatest time.Time, most int) []string {
	type step struct {
		clock               time.Duration
		days, months, years int
	}
	var steps []step
	if t == herb.TypeDateTime {
		for _, minutes := range []time.Duration{1, 5, 15, 30, 60, 180, 360, 720} {
			steps = append(steps, step{clock: minutes * time.Minute})
		}
	}
	steps = append(steps, step{days: 1}, step{days: 7}, step{months: 1}, step{months: 3})
	for years := 1; years <= 10_000; years *= 10 {
		steps = append(steps, step{years: years}, step{years: 2 * years}, step{years: 5 * years})
	}
	for _, s := range steps {
		begin := time.Date(least.Year(), least.Month(), least.Day(), 0, 0, 0, 0, time.UTC)
		switch {
		case s.clock > 0:
			for begin.Add(s.clock).Compare(least) <= 0 {
				begin = begin.Add(s.clock)
			}
		case s.days == 7:
			for begin.Weekday() != time.Monday {
				begin = begin.AddDate(0, 0, -1)
			}
		case s.days == 0:
			begin = begin.AddDate(0, 0, 1-begin.Day())
			for s.months == 3 && begin.Month()%3 != 1 || s.years > 0 && begin.Month() != time.January {
				begin = begin.AddDate(0, -1, 0)
			}
			for s.years > 0 && begin.Year()%s.years != 0 {
				begin = begin.AddDate(-1, 0, 0)
			}
		}
		edges := []string{edge(t, begin)}
		for at := begin; !at.After(greatest) && len(edges) <= most+1; {
			at = at.AddDate(s.years, s.months, s.days).Add(s.clock)
			edges = append(edges, edge(t, at))
		}
		if len(edges) <= most+1 {
			return edges
		}
	}
	panic("no step for times")
}

// edge formats a time, clamped to the valid range.
func edge(t herb.Type, at time.Time) string {
	first, last := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	at = slices.MinFunc([]time.Time{last, slices.MaxFunc([]time.Time{first, at}, time.Time.Compare)}, time.Time.Compare)
	if t == herb.TypeDate {
		return at.Format(time.DateOnly)
	}
	return at.Format(time.RFC3339Nano)
}
