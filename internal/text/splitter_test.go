package text_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/clipperhouse/uax29/v2/words"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/testseed"
	"herbarium/internal/text"
)

// compareSplits checks that the Splitter, with its own ASCII rules, agrees with AppendWords and UAX #29.
func compareSplits(t *testing.T, s string) {
	t.Helper()
	got := text.AppendWords(nil, s)
	var splitter text.Splitter
	for range 2 { // also reused
		var split []string
		splitter.Each(s, func(w []byte) { split = append(split, string(w)) })
		if diff := cmp.Diff(got, split, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("Splitter and AppendWords split %q differently (-AppendWords +Splitter):\n%s", s, diff)
		}
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 }) {
		return
	}
	var want []string
	for it := words.FromString(strings.ToLower(s)); it.Next(); {
		if strings.ContainsAny(it.Value(), "abcdefghijklmnopqrstuvwxyz0123456789") {
			want = append(want, it.Value())
		}
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("AppendWords(%q) (-UAX #29 +got):\n%s", s, diff)
	}
}

func TestSplits(t *testing.T) {
	t.Parallel()
	seed := testseed.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 50_000 {
		b := make([]byte, r.IntN(12))
		for i := range b {
			b[i] = byte(r.IntN(128))
			if r.IntN(8) > 0 {
				b[i] = `aB1_:.',;" -`[r.IntN(12)]
			}
		}
		if compareSplits(t, string(b)); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	for _, s := range []string{"Straße a_b", `צה"ל "x"`, "植物園 Rose’s"} {
		compareSplits(t, s)
	}
}

func FuzzSplits(f *testing.F) {
	for _, s := range []string{"don't 3.14 x_y", "a:b 1,2;3 __", "\r\n\v\f", "צה\"ל", "é'a"} {
		f.Add(s)
	}
	f.Fuzz(compareSplits)
}
