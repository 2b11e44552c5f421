package text_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/clipperhouse/uax29/v2/words"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/testseed"
	"herbarium/internal/text"
)

func TestAppendWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"blank", " \t\n", nil},
		{"punctuation", "... -- !? ©", nil},
		{"sentence", "The Rose, of Sharon.", []string{"the", "rose", "of", "sharon"}},
		{"apostrophe", "don't", []string{"don't"}},
		{"typographic apostrophe", "don’t", []string{"don't"}},
		{"quoted", "'rose' \"lily\"", []string{"rose", "lily"}},
		{"decimal", "3.14 1,000", []string{"3.14", "1,000"}},
		{"underscore", "x_y", []string{"x_y"}},
		{"underscores alone", "___", nil},
		{"code", "AB-12/7", []string{"ab", "12", "7"}},
		{"address", "https://example.org/a?b=c", []string{"https", "example.org", "a", "b", "c"}},
		{"mail", "me@example.org", []string{"me", "example.org"}},
		{"Han", "植物園", []string{"植", "物", "園"}},
		{"hiragana", "さくら", []string{"さ", "く", "ら"}},
		{"katakana", "バラ園", []string{"バラ", "園"}},
		{"Hangul", "한국어 사전", []string{"한국어", "사전"}},
		{"Devanagari", "हिन्दी भाषा", []string{"हिन्दी", "भाषा"}},
		{"Hebrew acronym", `צה"ל`, []string{"צהל"}},
		{"Arabic", "مرحبا بالعالم", []string{"مرحبا", "بالعالم"}},
		{"emoji", "🌹🌹 rose", []string{"🌹", "🌹", "rose"}},
		{"joined emoji", "👩‍🌾", []string{"👩", "🌾"}},
		{"flag", "🇹🇷", []string{"🇹🇷"}},
		{"German", "Straße", []string{"strasse"}},
		{"combining marks", "cafe\u0301s", []string{"cafes"}},
		{"soft hyphen", "co\u00ADoperate", []string{"cooperate"}},
		{"zero width space", "a\u200Bb", []string{"a", "b"}},
		{"lists", "hardy, pink,fragrant", []string{"hardy", "pink", "fragrant"}},
		{"digits", "00042 1e5 ４２", []string{"00042", "1e5", "42"}},
	} {
		if diff := cmp.Diff(c.want, text.AppendWords(nil, c.in), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: AppendWords(%q) (-want +got):\n%s", c.name, c.in, diff)
		}
	}
	if got := text.AppendWords([]string{"a"}, "b"); !cmp.Equal(got, []string{"a", "b"}) {
		t.Errorf("AppendWords does not append: %q", got)
	}
}

func TestClosest(t *testing.T) {
	t.Parallel()
	choices := []string{"date", "id", "price", "title", "per_page", "page"}
	for _, c := range []struct{ word, want string }{
		{"prize", "price"},
		{"rpice", "price"},
		{"Price", "price"},
		{"titel", "title"},
		{"titl", "title"},
		{"pages", "page"},
		{"perpage", "per_page"},
		{"dat", "date"},
		{"x", ""},
		{"", ""},
		{"colour", ""},
		{"descriptions", ""},
	} {
		got, ok := text.Closest(c.word, choices)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("Closest(%q) = %q, %t, want %q", c.word, got, ok, c.want)
		}
	}
	if got, _ := text.Closest("ac", []string{"ab", "ad"}); got != "ab" {
		t.Errorf("Closest returns %q, want the first of two equally close choices", got)
	}
	if got, _ := text.Closest("abd", []string{"abcc", "abe", "abd"}); got != "abd" {
		t.Errorf("Closest returns %q, want the word itself", got)
	}
}

func TestAppendSpans(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "A Rose, a ROSÉ", "don't 3.14 x_y", "植物園 Straße", "  ©  ", "AB-12/7", "🌱 grows"} {
		var words []string
		at := 0
		for _, span := range text.AppendSpans(nil, s) {
			words = append(words, span.Word)
			if span.Start < at || span.End <= span.Start || text.Fold(s[span.Start:span.End]) != span.Word {
				t.Errorf("%q has the span %v", s, span)
			}
			at = span.End
		}
		if want := text.AppendWords(nil, s); !slices.Equal(words, want) {
			t.Errorf("%q has the words %q, want %q", s, words, want)
		}
	}
}

// compareSplits checks that the Splitter, with its own ASCII rules, agrees with AppendWords and UAX
// #29.
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
		compareSplits(t, string(b))
		if t.Failed() {
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

// TestWordsAreStable folds and splits random text of characters that the word rules treat
// specially. Fold must be idempotent and a word must stay one word, so that a search survives a
// round trip through its canonical form.
func TestWordsAreStable(t *testing.T) {
	t.Parallel()
	seed := testseed.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 10_000 {
		s := rareText(r)
		checkStable(t, s)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		for _, w := range text.AppendWords(nil, s) {
			if strings.ContainsFunc(w, unicode.IsSpace) || strings.HasPrefix(w, "-") || strings.ContainsAny(w, `"*`) {
				t.Fatalf("seed %d: the word %+q of %+q has a different meaning in a query", seed, w, s)
			}
		}
	}
}

// rareText returns up to a dozen characters that the word rules treat specially, in any order.
func rareText(r *rand.Rand) string {
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
