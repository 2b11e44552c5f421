package aggregate

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"herbarium/internal/segment/internal/guard"
)

func TestRoundRoot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		num    string
		den    uint64
		places int
		want   string
	}{
		{"zero", "0", 2, 3, "0"},
		{"exact", "625", 4, 1, "1.25"},
		{"rounded", "2", 1, 0, "1.4142135623731"},
		{"less than one", "1", 300, 0, "0.0577350269189626"},
		{"half to even", "1000000000000010000000000000025", 1, 0, "1000000000000000"},
		{"half to even, up", "1000000000000030000000000000225", 1, 0, "1000000000000020"},
		{"more digits", "999999999999999999999999999999999999", 1, 0, "1000000000000000000"},
	} {
		num, _ := new(big.Int).SetString(c.num, 10)
		if got := roundRoot(num, c.den, c.places); got != c.want {
			t.Errorf("%s: got %s; want %s", c.name, got, c.want)
		}
	}
}

// BenchmarkMeasures compares the cost of a group of measures that are rounded alike.
func BenchmarkMeasures(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	const groups, n = 1024, 1000
	s := &sums{numbers: &numbers{places: 2, steps: guard.NewSteps(b.Context())}, small: make([]int64, groups)}
	s.squares = &squares{small: make([]uint128, groups)}
	for id := range groups {
		for range n {
			value := random.Int64N(100_000)
			s.small[id] += value
			s.squares.addSmall(value, []uint32{uint32(id)})
		}
	}
	for name, measure := range map[string]func(id int){
		"mean": func(id int) { s.mean(id, n) }, "stddev": func(id int) { s.deviation(id, n) },
		"ratio": func(id int) { s.ratio(s, id) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				measure(i % groups)
			}
		})
	}
}
