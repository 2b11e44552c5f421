package text_test

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"herbarium/internal/herb"
	"herbarium/internal/testseed"
	"herbarium/internal/text"
)

func TestCollationKey(t *testing.T) {
	t.Parallel()
	for _, sorted := range [][]string{
		{"Ana", "Ångström", "bo", "Çelik", "zed"},
		{"-", "42", "a", "植"},
		{"", "\u00a0", "0"},
		{"a", "A", "á", "Á", "b", "B"},
		{"resume", "Resume", "résumé", "Résumé", "resumes"},
		{"an a", "ana", "anb"},
		{"1", "10", "2"},
		{"Strase", "Straße", "Strasz"},
		{"ab", "æ", "b"},
		{"a", "α", "а", "ا", "あ", "ア", "漢"},
	} {
		for i := 1; i < len(sorted); i++ {
			if a, b := sorted[i-1], sorted[i]; text.CollationKey(a) >= text.CollationKey(b) {
				t.Errorf("%q does not sort before %q", a, b)
			}
		}
	}
	for _, alike := range [][2]string{
		{"Ångström", "A\u030angstro\u0308m"},
		{"한", "\u1112\u1161\u11ab"},
	} {
		if text.CollationKey(alike[0]) != text.CollationKey(alike[1]) {
			t.Errorf("%q and %q, equivalent texts, have different keys", alike[0], alike[1])
		}
	}
}

func TestCollationKeyConcurrently(t *testing.T) {
	t.Parallel()
	values := []string{"Ana", "Ångström", strings.Repeat("bo", 10_000), "Çelik", "zed", ""}
	want := make([]string, len(values))
	for i, v := range values {
		want[i] = text.CollationKey(v)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				for i, v := range values {
					if text.CollationKey(v) != want[i] {
						t.Errorf("the key of %.20q changed", v)
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestNumberKey(t *testing.T) {
	t.Parallel()
	// Each line lists notations of one number; lines are in ascending order.
	lines := [][]string{
		{"-123456789012345678901234567891"},
		{"-123456789012345678901234567890.5", "-123456789012345678901234567890.50"},
		{"-123456789012345678901234567890"},
		{"-9007199254740993"}, {"-9007199254740992", "-9007199254740992.0"},
		{"-100"}, {"-99.9"}, {"-20"}, {"-19"}, {"-10"}, {"-9.99"}, {"-9"}, {"-1.5", "-1.50"}, {"-1.05"},
		{"-1", "-1.0", "-1.000"},
		{"-0.9"}, {"-0.10", "-0.1"}, {"-0.05"}, {"-0.0000000000000000000000001"},
		{"0", "-0", "0.0", "-0.00"},
		{"0.0000000000000000000000001"}, {"0.00001"}, {"0.05"}, {"0.1", "0.10", "0.100"}, {"0.11"}, {"0.9"},
		{"1", "1.0"}, {"1.05"}, {"1.5"}, {"2"}, {"9", "9.0"}, {"9.99"}, {"10", "10.0"}, {"19"}, {"20"},
		{"25", "25.0"}, {"99.9"}, {"100"},
		{"9007199254740992"}, {"9007199254740993", "9007199254740993.0"},
		{"123456789012345678901234567890"}, {"123456789012345678901234567890.5"}, {"1" + strings.Repeat("0", 1000)},
	}
	last := ""
	for _, line := range lines {
		for i, s := range line {
			key, ok := text.Key(herb.TypeNumber, s)
			switch {
			case !ok:
				t.Errorf("%q is not recognized as a number", s)
			case i == 0 && key <= last:
				t.Errorf("%q does not sort after smaller numbers", s)
			case i > 0 && key != last:
				t.Errorf("%q and %q have different keys", line[0], s)
			}
			last = key
		}
	}
	for _, s := range []string{
		"", " ", "-", ".", "-.", "+1", "1.", ".5", "-.5", "00", "01", "00042", "-01", "00.5", "1e5", "1E5", "0x10",
		"1_000", "1,000", "1 ", " 1",
		"--1", "1-", "1.2.3", "NaN", "Inf", "-Inf", "١", "１", "1/2", "½", "1\x00",
	} {
		if _, ok := text.Key(herb.TypeNumber, s); ok {
			t.Errorf("%q is accepted as a number", s)
		}
	}
}

// TestNumberKeyRandom compares the order of keys with that of exact rational numbers.
func TestNumberKeyRandom(t *testing.T) {
	t.Parallel()
	seed := testseed.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 20_000 {
		a, b := decimal(r), decimal(r)
		if r.IntN(4) == 0 { // close to a
			b = a + string(rune('0'+r.IntN(10)))
		}
		compareNumbers(t, a, b)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// decimal returns a number in plain decimal notation.
func decimal(r *rand.Rand) string {
	digits := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "0000123459"[r.IntN(10)]
		}
		return string(b)
	}
	s := strings.TrimLeft(digits(r.IntN(25)), "0")
	if s == "" {
		s = "0"
	}
	if r.IntN(2) == 0 {
		s += "." + digits(1+r.IntN(25))
	}
	if r.IntN(2) == 0 {
		s = "-" + s
	}
	return s
}

// compareNumbers compares the keys of two numbers with their values. Invalid numbers are skipped.
func compareNumbers(t *testing.T, a, b string) {
	t.Helper()
	ka, oka := text.Key(herb.TypeNumber, a)
	kb, okb := text.Key(herb.TypeNumber, b)
	if !oka || !okb {
		return
	}
	ra, oka := new(big.Rat).SetString(a)
	rb, okb := new(big.Rat).SetString(b)
	if !oka || !okb {
		t.Errorf("%q or %q is not a number but has a key", a, b)
		return
	}
	if got, want := strings.Compare(ka, kb), ra.Cmp(rb); got != want {
		t.Errorf("the keys of %q and %q compare as %d, the numbers as %d", a, b, got, want)
	}
}

func FuzzNumberKey(f *testing.F) {
	for _, p := range [][2]string{
		{"0", "-0.0"}, {"25", "25.0"}, {"-1.5", "-1"}, {"0.001", "0.01"}, {"9007199254740993", "9007199254740992"},
		{"00", "1e5"},
	} {
		f.Add(p[0], p[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) { compareNumbers(t, a, b) })
}

func TestIsDate(t *testing.T) {
	t.Parallel()
	for year := range 10_000 {
		if year > 2100 && year < 9990 {
			continue
		}
		for month := range 14 {
			for _, day := range []int{0, 1, 28, 29, 30, 31, 32} {
				s := fmt.Sprintf("%04d-%02d-%02d", year, month, day)
				_, err := time.Parse(time.DateOnly, s)
				if got := text.IsDate(s); got != (err == nil) {
					t.Errorf("IsDate(%q) = %t, time.Parse says %v", s, got, err)
				}
			}
		}
	}
	for _, s := range []string{
		"", "2024", "2024-1-1", "2024-01-1", "24-01-01", "2024/01/01", "2024-01-01T00:00:00Z", " 2024-01-01",
		"2024-01-01 ", "+024-01-01", "-024-01-01",
		"2024-0a-01", "12024-01-01", "２０２４-01-01", "2024-01-0\x00",
	} {
		if text.IsDate(s) {
			t.Errorf("%q is accepted as a date", s)
		}
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	key := func(typ herb.Type, value string) string {
		k, ok := text.Key(typ, value)
		if !ok {
			t.Errorf("%q is not recognized as a %s", value, typ)
		}
		return k
	}
	for typ, values := range map[herb.Type][]string{
		herb.TypeText:   {"zed", "Ana", "bo", "10", "9"},
		herb.TypeList:   {"zed, a", "Ana", "bo"},
		herb.TypeNumber: {"10", "9", "-1"},
		herb.TypeDate:   {"2024-02-29", "2023-12-31", "0001-01-01"},
	} {
		want := map[herb.Type][]string{
			herb.TypeText:   {"10", "9", "Ana", "bo", "zed"},
			herb.TypeList:   {"Ana", "bo", "zed, a"},
			herb.TypeNumber: {"-1", "9", "10"},
			herb.TypeDate:   {"0001-01-01", "2023-12-31", "2024-02-29"},
		}[typ]
		slices.SortFunc(values, func(a, b string) int { return strings.Compare(key(typ, a), key(typ, b)) })
		if diff := cmp.Diff(want, values); diff != "" {
			t.Errorf("%s sorts wrongly (-want +got):\n%s", typ, diff)
		}
	}
	for _, typ := range []herb.Type{herb.TypeNumber, herb.TypeDate} {
		if _, ok := text.Key(typ, "rose"); ok {
			t.Errorf("rose is accepted as a %s", typ)
		}
	}
}

// TestKey_ascii compares the fast path for ASCII with the collator, which is used if there is
// another character. This one has no weight.
func TestKey_ascii(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var ascii []rune
	for c := range rune(128) {
		ascii = append(ascii, c)
	}
	for range 20_000 {
		s := randomText(rng, ascii, 11)
		got, _ := text.Key(herb.TypeText, s)
		if want, _ := text.Key(herb.TypeText, s+"\u00ad"); got != want {
			t.Fatalf("the key of %q is %x; with the collator it is %x", s, got, want)
		}
	}
}

// randomText returns a text of at most some of the letters.
func randomText(r *rand.Rand, letters []rune, most int) string {
	s := make([]rune, r.IntN(most+1))
	for i := range s {
		s[i] = letters[r.IntN(len(letters))]
	}
	return string(s)
}

// TestPrimaryKey checks which texts begin with which others. TestAppendSortKey_hangul checks that
// Hangul syllables have the keys of their letters, also before and after other characters.
func TestAppendSortKey_hangul(t *testing.T) {
	t.Parallel()
	for c := '가'; c <= '힣'; c++ {
		for _, s := range []string{string(c), "a" + string(c) + "é" + string(c), string(c) + "́" + string(c) + "ᆨ"} {
			composed, _ := text.AppendSortKey(nil, herb.TypeText, []byte(s))
			decomposed, _ := text.AppendSortKey(nil, herb.TypeText, []byte(norm.NFD.String(s)))
			if !bytes.Equal(composed, decomposed) {
				t.Fatalf("%q: key %x, decomposed %x", s, composed, decomposed)
			}
		}
	}
}

func TestPrimaryKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, prefix string
		want         bool
	}{
		{"Ångström", "a", true},
		{"Ångström", "ANGSTR", true},
		{"angstrom", "Ångström", true},
		{"A\u030angstro\u0308m", "Ångs", true},
		{"Ångström", "n", false},
		{"rose", "roses", false},
		{"an a", "ana", false},
		{"42", "4", true},
		{"42", "0", false},
		{"植物園", "植物", true},
		{"植物園", "園", false},
		{"👍🏽", "👍", true},
		{"👩", "👍", false},
		{"Straße", "strass", true},
		{"x", "\u0301", true}, // a combining accent has no primary weight
		{"-", "-", true},
	} {
		if got := strings.HasPrefix(text.PrimaryKey(c.text), text.PrimaryKey(c.prefix)); got != c.want {
			t.Errorf("%q begins with %q: %v; want %v", c.text, c.prefix, got, c.want)
		}
		end, ok := text.KeyAfterPrefix(text.PrimaryKey(c.prefix))
		key, _ := text.Key(herb.TypeText, c.text)
		if got := key >= text.PrimaryKey(c.prefix) && (!ok || key < end); got != c.want {
			t.Errorf("the key of %q is in the range of the prefix %q: %v; want %v", c.text, c.prefix, got, c.want)
		}
	}
	if end, ok := text.KeyAfterPrefix("a\xff\xff"); end != "b" || !ok {
		t.Errorf("after a prefix that ends in 0xff: %q, %v", end, ok)
	}
	if _, ok := text.KeyAfterPrefix("\xff"); ok {
		t.Error("there is a key after all")
	}
}

func TestSubstring(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		part, text string
		want       bool
	}{
		{"ros", "Rose", true}, {"OSE", "Rose", true}, {"e", "Rosé", true}, {"é", "ROSE", true}, {"rose", "ros", false},
		{"", "", true}, {"", "x", true}, {"x", "", false}, {"\u0301", "x", true}, {"ST", "Straße", true},
		{"ss", "Straße", true}, {"sse", "Straße", true},
		{"物", "植物園", true}, {"園植", "植物園", false}, {"b c", "ab cd", true}, {"bc", "ab cd", false}, {"12", "3.12", true},
	} {
		s := text.NewSubstring(tt.part)
		if got := s.In([]byte(tt.text)); got != tt.want {
			t.Errorf("%q in %q: %t", tt.part, tt.text, got)
		}
	}
}

// TestSubstring_random checks that every part of a text is found, also if the bytes of its weights
// occur elsewhere.
func TestSubstring_random(t *testing.T) {
	t.Parallel()
	seed := testseed.Seed(t)
	g := rand.New(rand.NewPCG(seed, 1))
	letters := []rune("abcXYZ 019-éßあ物\u4e00\u9fff\U00020000")
	for range 2000 {
		s := []rune("x" + randomText(g, letters, 8))
		from := g.IntN(len(s))
		part := string(s[from : from+1+g.IntN(len(s)-from)])
		if !text.NewSubstring(part).In([]byte(string(s))) {
			t.Errorf("%q is not in %q", part, string(s))
		}
	}
}

// TestSubstring_weights compares the search by the codes of sort keys with that by the primary
// weights of collation keys, for pairs of all ASCII characters and for random texts.
func TestSubstring_weights(t *testing.T) {
	t.Parallel()
	check := func(part, value string) {
		if got, want := text.NewSubstring(part).In([]byte(value)), containsWeights(value, part); got != want {
			t.Errorf("%q in %q: %t", part, value, got)
		}
	}
	for c := range rune(128) {
		check(string(c), "abcdefghijABCDEFGHI") // has weights of case that are codes of control characters
		for d := range rune(128) {
			check(string(c), string(d)+"X")
		}
	}
	g := rand.New(rand.NewPCG(testseed.Seed(t), 4))
	letters := []rune("abcXYZ 019-éßæλあ物\u0301\t\U00020000")
	for range 5000 {
		check(randomText(g, letters, 2), randomText(g, letters, 8))
	}
}

// containsWeights reports whether the primary weights of a text contain those of another, weight by
// weight.
func containsWeights(s, part string) bool {
	all, _ := cutPrimaryWeights(text.CollationKey(s))
	sub, _ := cutPrimaryWeights(text.CollationKey(part))
	for i := 0; i+len(sub) <= len(all); i++ {
		if slices.Equal(all[i:i+len(sub)], sub) {
			return true
		}
	}
	return false
}

// cutPrimaryWeights returns the primary weights of a collation key, and the rest of it.
func cutPrimaryWeights(key string) (weights []string, rest string) {
	for key[:2] != "\x00\x00" {
		n := 2 + int(key[0]>>7) // those whose first byte has its high bit set are longer
		weights, key = append(weights, key[:n]), key[n:]
	}
	return weights, key
}

// TestIsPrintableASCII_uniqueKeys checks that two texts of printable ASCII never have the same sort
// key.
func TestIsPrintableASCII_uniqueKeys(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for c := range byte(128) {
		for d := range byte(128) {
			value := string(rune(c)) + string(rune(d))
			if text.IsPrintableASCII([]byte(value)) != (c >= ' ' && c < 0x7f && d >= ' ' && d < 0x7f) {
				t.Errorf("%q is printable: %t", value, text.IsPrintableASCII([]byte(value)))
			}
			if !text.IsPrintableASCII([]byte(value)) {
				continue
			}
			key, _ := text.AppendSortKey(nil, herb.TypeText, []byte(value))
			if other, ok := seen[string(key)]; ok {
				t.Errorf("%q and %q have the key %x", value, other, key)
			}
			seen[string(key)] = value
		}
	}
}
