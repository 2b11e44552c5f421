package text_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/testseed"
	"herbarium/internal/text"
)

// compareSortKeys checks that the sort keys of two values compare as their keys do.
func compareSortKeys(t *testing.T, typ herb.Type, a, b string) {
	t.Helper()
	ka, oka := text.Key(typ, a)
	kb, okb := text.Key(typ, b)
	if !typ.IsScalar() {
		if (ka < kb) != (text.CollationKey(a) < text.CollationKey(b)) {
			t.Errorf("the keys of %q and %q do not have the order of the collation", a, b)
		}
		ka, kb = text.CollationKey(a), text.CollationKey(b)
	}
	sa, okSortA := text.AppendSortKey([]byte("before"), typ, []byte(a))
	sb, okSortB := text.AppendSortKey([]byte("before"), typ, []byte(b))
	if oka != okSortA || okb != okSortB {
		t.Errorf("%s %q, %q: Key says %t, %t and AppendSortKey %t, %t", typ, a, b, oka, okb, okSortA, okSortB)
	}
	if !oka || !okb {
		return
	}
	if !bytes.HasPrefix(sa, []byte("before")) {
		t.Fatalf("AppendSortKey(%q) does not append: %q", a, sa)
	}
	want := strings.Compare(ka, kb)
	if got := bytes.Compare(sa, sb); got != want {
		t.Errorf("the sort keys of %s %q and %q compare as %d, their keys as %d", typ, a, b, got, want)
	}
	if want != 0 && (bytes.HasPrefix(sa, sb) || bytes.HasPrefix(sb, sa)) {
		t.Errorf("one of the sort keys of %s %q and %q is a prefix of the other", typ, a, b)
	}
}

// TestSortKeyRandom compares texts that differ slightly, on every level of the key.
func TestSortKeyRandom(t *testing.T) {
	t.Parallel()
	seed := testseed.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	pieces := []string{
		"a", "A", "b", "B", "é", "É", "e\u0301", "e", "\u0301", "\u0300", "ａ", "ß", "ss", "æ", "Å", "\x01", " ", "-",
		"0", "9", "~", "z",
		"植", "物", "\U0002A6D6", "が", "か", "ガ", "한", "ा", "न", "🌹", "\u00ad", "\u200d", "ﬁ", "①", "\xff", "Ⅷ", "ア", "ｱ",
		strings.Repeat("n", 60), strings.Repeat("n", 130), strings.Repeat("N", 3), strings.Repeat("ñ", 2),
	}
	value := func() string {
		var b strings.Builder
		for range r.IntN(8) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		return b.String()
	}
	for range 50_000 {
		a, b := value(), value()
		if r.IntN(2) == 0 { // a with a part changed
			at := r.IntN(len(pieces))
			b = strings.Replace(a, pieces[at], pieces[r.IntN(len(pieces))], 1+r.IntN(2))
		}
		compareSortKeys(t, herb.TypeText, a, b)
		compareSortKeys(t, herb.TypeNumber, decimal(r), decimal(r))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// TestSortKeyOfEveryCharacter compares each character with its neighbors and with a letter.
func TestSortKeyOfEveryCharacter(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune && !t.Failed(); r++ {
		if r > 0x3400 && r%17 != 0 || !utf8.ValidRune(r) { // mostly alike, so sample them
			continue
		}
		compareSortKeys(t, herb.TypeText, string(r), string(r+1))
		compareSortKeys(t, herb.TypeText, "xa"+string(r), "xA"+string(unicode.SimpleFold(r)))
	}
}

func FuzzSortKey(f *testing.F) {
	for _, p := range [][2]string{
		{"", "\x00"}, {"résumé", "resume"}, {"a\u0301\u0300", "a\u0301"}, {"12.50", "-0.0"},
		{"2024-02-29", "2023-02-29"}, {"植物", "植"},
		{"Rose", "rose"}, {"ñn", "nñ"},
	} {
		f.Add(p[0], p[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, typ := range []herb.Type{herb.TypeText, herb.TypeNumber, herb.TypeDate, herb.TypeList} {
			compareSortKeys(t, typ, a, b)
		}
	})
}

func TestIsNumber(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		s := randomText(r, []rune("0012-.e+ "), 5)
		if _, want := text.Key(herb.TypeNumber, s); text.IsNumber([]byte(s)) != want {
			t.Errorf("IsNumber(%q) is %t and Key says %t", s, !want, want)
		}
	}
}

// TestCommonWeights checks what sort keys without trailing common weights rely on: no weight is
// smaller, and every character has as many common secondary weights as primary weights.
func TestCommonWeights(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune && !t.Failed(); r++ {
		if r > 0x3400 && r%17 != 0 || !utf8.ValidRune(r) { // mostly alike, so sample them
			continue
		}
		primary, key := cutPrimaryWeights(text.CollationKey(string(r)))
		common := 0
		for key = key[2:]; key[:2] != "\x00\x00"; key = key[2:] {
			if key[:2] < "\x00\x20" {
				t.Errorf("%U has the secondary weight %x", r, key[:2])
			}
			if key[:2] == "\x00\x20" {
				common++
			}
		}
		if len(primary) != common {
			t.Errorf("%U has %d primary weights and %d common secondary weights", r, len(primary), common)
		}
		if strings.ContainsAny(key[2:], "\x00\x01") {
			t.Errorf("%U has the tertiary weights %x", r, key[2:])
		}
	}
}

// TestPrimaryKey_ideographs checks that sort keys begin with the primary key: of every ideograph,
// beside characters that combine with others.
func TestPrimaryKey_ideographs(t *testing.T) {
	t.Parallel()
	beside := []string{"", "e\u0301", "l\u00B7", "\u0301", "\u3099", "か", "\uAC01", "A", "\u0E40\u0E01", "\uF900",
		"\u3400", "、"}
	g := rand.New(rand.NewPCG(testseed.Seed(t), 1))
	for c := '\u4DF0'; c <= '\uA010'; c++ {
		s := beside[g.IntN(len(beside))] + string(c) + beside[g.IntN(len(beside))] + string(c+1)
		key, _ := text.AppendSortKey(nil, herb.TypeText, []byte(s))
		if primary := text.PrimaryKey(s); !strings.HasPrefix(string(key), primary+"\x00\x00") {
			t.Errorf("%q: primary key %x, sort key %x", s, primary, key)
		}
	}
}
