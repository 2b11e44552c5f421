package text_test

import (
	"math"
	"testing"

	"herbarium/internal/text"
)

func TestIDF(t *testing.T) {
	t.Parallel()
	if got, want := text.IDF(10, 2), math.Log(1+8.5/2.5); got != want {
		t.Errorf("IDF(10, 2) = %v, want %v", got, want)
	}
	for n := 1; n < 100; n++ {
		if rarer, commoner := text.IDF(100, n), text.IDF(100, n+1); rarer <= commoner {
			t.Errorf("IDF(100, %d) = %v is not above IDF(100, %d) = %v", n, rarer, n+1, commoner)
		}
	}
	if got := text.IDF(100, 100); got <= 0 {
		t.Errorf("IDF of a word in all records = %v, want > 0", got)
	}
}

func TestScore(t *testing.T) {
	t.Parallel()
	// One occurrence in a record of average length: the denominator is 1 + k1, so the score is the
	// weight.
	if got := text.Score(2, 1, 8, 8); math.Abs(got-2) > 1e-12 {
		t.Errorf("Score(2, 1, 8, 8) = %v, want 2", got)
	}
	// Twice in a record of double length: the denominator is 2 + 1.2 * (0.25 + 0.75 * 2).
	if got, want := text.Score(1, 2, 16, 8), 4.4/4.1; math.Abs(got-want) > 1e-12 {
		t.Errorf("Score(1, 2, 16, 8) = %v, want %v", got, want)
	}
	base := text.Score(2, 2, 10, 8)
	if more := text.Score(2, 3, 10, 8); more <= base {
		t.Errorf("more occurrences score %v, not above %v", more, base)
	}
	if longer := text.Score(2, 2, 11, 8); longer >= base {
		t.Errorf("a longer record scores %v, not below %v", longer, base)
	}
	if rarer := text.Score(3, 2, 10, 8); rarer <= base {
		t.Errorf("a rarer word scores %v, not above %v", rarer, base)
	}
	if most := text.Score(2, 1_000_000, 1_000_000, 8); most > 2*(text.BM25K1+1) {
		t.Errorf("the score %v is above its limit", most)
	}
}
