package text_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"herbarium/internal/testseed"
	"herbarium/internal/text"
)

// TestWordsAreStable folds and splits random text of characters that the word rules treat specially. Fold must be
// idempotent and a word must stay one word, so that a search survives a round trip through its canonical form.
func TestWordsAreStable(t *testing.T) {
	t.Parallel()
	seed := testseed.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 10_000 {
		s := jumble(r)
		once := text.Fold(s)
		if twice := text.Fold(once); twice != once {
			t.Fatalf("seed %d: Fold(%+q) = %+q, Fold of that %+q", seed, s, once, twice)
		}
		for _, w := range text.AppendWords(nil, s) {
			if again := text.AppendWords(nil, w); len(again) != 1 || again[0] != w {
				t.Fatalf("seed %d: the word %+q of %+q splits into %+q", seed, w, s, again)
			}
			if strings.ContainsFunc(w, unicode.IsSpace) || strings.HasPrefix(w, "-") || strings.ContainsAny(w, `"*`) {
				t.Fatalf("seed %d: the word %+q of %+q has a different meaning in a query", seed, w, s)
			}
		}
	}
}

// jumble returns up to a dozen characters of rare combinations.
func jumble(r *rand.Rand) string {
	special := []rune("aAzß09_'’\".,:;-*/ " +
		"\u00a0\u00ad\u200b\u200c\u200d\u2060\ufe0f\u0301\u0345\u05bc\u064b\u3099\u309a\u0e31\u093f\u094d" +
		"אבלךıİſςΣΐŉǆǅﬃ①½²㎏℃ｶﾞﾟかカ゛゜ー々植한\u1100\u1161\u11a8ไनदاــ👩🌾👍\U0001f3fd❤🇹🇷🇦©™№٣३Ꭰꭰ𝐀ﷺ\u202f\u2018\u02bc·‧\u00b7\u0387״׳")
	var b strings.Builder
	for range r.IntN(12) {
		if r.IntN(4) > 0 {
			b.WriteRune(special[r.IntN(len(special))])
			continue
		}
		tables := []*unicode.RangeTable{
			unicode.Mn, unicode.Mc, unicode.Cf, unicode.Lo, unicode.Lu, unicode.Lm, unicode.No, unicode.Nl, unicode.So,
			unicode.Sk, unicode.Po, unicode.Pc, unicode.Zs,
		}
		b.WriteRune(anyOf(r, tables[r.IntN(len(tables))]))
	}
	return b.String()
}

// anyOf returns a random character of a table; every range is equally likely.
func anyOf(r *rand.Rand, table *unicode.RangeTable) rune {
	i := r.IntN(len(table.R16) + len(table.R32))
	if i < len(table.R16) {
		c := table.R16[i]
		return rune(c.Lo) + rune(r.IntN(int(c.Hi-c.Lo)/int(c.Stride)+1))*rune(c.Stride)
	}
	c := table.R32[i-len(table.R16)]
	return rune(c.Lo) + rune(r.IntN(int(c.Hi-c.Lo)/int(c.Stride)+1))*rune(c.Stride)
}
