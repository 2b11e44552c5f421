package aggregate

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"herbarium/internal/query"
)

// TestDivideSmall compares means of small numbers with those of numbers of any size.
func TestDivideSmall(t *testing.T) {
	t.Parallel()
	random, fast := rand.New(rand.NewPCG(1, 2)), 0
	for range 100_000 {
		units := random.Int64N(1<<random.IntN(62)+1) - random.Int64N(1<<random.IntN(62)+1)
		n, places := 1+random.Uint64N(1<<random.IntN(32)), random.IntN(6)
		den := new(big.Int).Mul(powerOfTen(places), new(big.Int).SetUint64(n))
		want := roundDigits(new(big.Rat).SetFrac(big.NewInt(units), den), query.MeanDigits)
		got, ok := divideSmall(units, n, places)
		if ok && got != want {
			t.Fatalf("%d units of 10^-%d / %d = %s; want %s", units, places, n, got, want)
		}
		if ok {
			fast++
		}
	}
	if fast < 50_000 {
		t.Errorf("only %d of 100,000 means are fast", fast)
	}
}

func TestDivideSmall_named(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		units    int64
		n        uint64
		places   int
		want     string
		fallBack bool
	}{
		{name: "exact", units: 1050, n: 2, places: 2, want: "5.25"},
		{name: "rounded", units: 200, n: 3, places: 2, want: "0.666666666666667"},
		{name: "negative", units: -100, n: 3, places: 0, want: "-33.3333333333333"},
		{name: "half to even", units: 1_000_000_000_000_005, n: 10, places: 0, want: "100000000000000"},
		{name: "half to even, up", units: 1_000_000_000_000_015, n: 10, places: 0, want: "100000000000002"},
		{name: "more digits than a mean has", units: math.MaxInt64, n: 1, places: 0, fallBack: true},
		{name: "zero", units: 0, n: 7, places: 2, fallBack: true},
	} {
		if got, ok := divideSmall(c.units, c.n, c.places); ok == c.fallBack || got != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.name, got, ok, c.want)
		}
	}
}
