package aggregate

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestRootSmall compares roots of small numbers with those of numbers of any size.
func TestRootSmall(t *testing.T) {
	t.Parallel()
	random, fast := rand.New(rand.NewPCG(1, 2)), 0
	for range 200_000 {
		num := uint128{random.Uint64() >> (2 + random.IntN(62)), random.Uint64() >> random.IntN(64)}
		if random.IntN(2) == 0 {
			num.hi = 0
		}
		n, places := 2+random.Uint64N(1<<random.IntN(32)), random.IntN(6)
		den := n * (n - 1)
		if random.IntN(4) == 0 { // a number of a few digits, or next to one that is half between two of them
			root := 1 + random.Uint64N(1<<31)
			num, den = uint128{0, root * root}, []uint64{1, 4, 100}[random.IntN(3)]
		}
		got, ok := rootSmall(num, den, places)
		if ok {
			fast++
		}
		exact := new(big.Int).SetUint64(num.hi)
		exact.Add(exact.Lsh(exact, 64), new(big.Int).SetUint64(num.lo))
		if want := roundRoot(exact, new(big.Int).SetUint64(den), places); ok && got != want {
			t.Fatalf("root of %v / %d in units of 10^-%d: %s; want %s", num, den, places, got, want)
		}
	}
	if fast < 100_000 {
		t.Errorf("only %d of 200,000 roots are fast", fast)
	}
}

func TestRoundRoot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		num, den string
		places   int
		want     string
	}{
		{"zero", "0", "2", 3, "0"},
		{"exact", "625", "4", 1, "1.25"},
		{"rounded", "2", "1", 0, "1.4142135623731"},
		{"less than one", "1", "300", 0, "0.0577350269189626"},
		{"half to even", "1000000000000010000000000000025", "1", 0, "1000000000000000"},
		{"half to even, up", "1000000000000030000000000000225", "1", 0, "1000000000000020"},
		{"more digits", "999999999999999999999999999999999999", "1", 0, "1000000000000000000"},
	} {
		num, _ := new(big.Int).SetString(c.num, 10)
		den, _ := new(big.Int).SetString(c.den, 10)
		if got := roundRoot(num, den, c.places); got != c.want {
			t.Errorf("%s: got %s; want %s", c.name, got, c.want)
		}
	}
}

// BenchmarkMeasures compares the cost of a group of measures that are rounded alike.
func BenchmarkMeasures(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	const groups, n = 1024, 1000
	s := &sums{numbers: &numbers{places: 2}, small: make([]int64, groups)}
	s.squares = &squares{small: make([]uint128, groups)}
	for id := range groups {
		for range n {
			value := random.Int64N(100_000)
			s.small[id] += value
			s.squares.addSmall(value, []uint32{uint32(id)})
		}
	}
	for name, measure := range map[string]func(id int){
		"mean": func(id int) { s.mean(id, n) }, "stddev": func(id int) { s.deviation(id, n) }, "ratio": func(id int) { s.ratio(s, id) },
		"stddev of any size": func(id int) {
			v := s.squares.small[id].spread(s.small[id], n)
			num := new(big.Int).SetUint64(v.lo)
			roundRoot(num, big.NewInt(n*(n-1)), 2)
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				measure(i % groups)
			}
		})
	}
}
