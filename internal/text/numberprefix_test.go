package text_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/testseed"
	"herbarium/internal/text"
)

// TestNumberPrefixRange compares the ranges with the digits of random numbers, many of which have
// zeros and nines where ranges begin and end.
func TestNumberPrefixRange(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(testseed.Seed(t), 1))
	var numbers, keys []string
	for range 1000 {
		numbers = append(numbers, randomNumber(rng))
	}
	numbers = append(numbers, "0", "-0.5", "0.05", "9", "10", "99", "100", "-9", "-10", "-99", "-100")
	for _, n := range numbers {
		key, ok := text.Key(herb.TypeNumber, n)
		if !ok {
			t.Fatalf("%q is not a number", n)
		}
		keys = append(keys, key)
	}
	for range 500 {
		prefix := strings.Split(numbers[rng.IntN(len(numbers))], ".")[0]
		prefix = prefix[:1+rng.IntN(len(prefix))]
		for i, n := range numbers {
			_, length := text.NumberLength(keys[i])
			r, ok := text.NumberPrefixRange(prefix, length)
			got := ok && keys[i] >= r.From && keys[i] < r.To
			if want := strings.HasPrefix(n, prefix); got != want {
				t.Fatalf("%s begins with %s: %t, want %t", n, prefix, got, want)
			}
		}
	}
}

func randomNumber(rng *rand.Rand) string {
	n := strconv.FormatInt(rng.Int64N(pow10(1+rng.IntN(8))), 10)
	for rng.IntN(3) == 0 {
		n = strings.TrimLeft(n[:len(n)-1]+[]string{"0", "9", "00", "99"}[rng.IntN(4)], "0") + "0"
	}
	if rng.IntN(4) == 0 {
		n += "." + strconv.Itoa(rng.IntN(100)) + "5"
	}
	if rng.IntN(3) == 0 && strings.Trim(n, "0.") != "" {
		n = "-" + n
	}
	return n
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

func TestIsNumberPrefix(t *testing.T) {
	t.Parallel()
	for prefix, want := range map[string]bool{"1": true, "120": true, "-": true, "-0": true, "007": true, "": false,
		"1.": false, "+1": false, "--1": false, "1e": false, "a": false} {
		if got := text.IsNumberPrefix(prefix); got != want {
			t.Errorf("IsNumberPrefix(%q) = %t, want %t", prefix, got, want)
		}
	}
}
