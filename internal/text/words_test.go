package text_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, text.AppendWords(nil, c.in), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("AppendWords(%q) (-want +got):\n%s", c.in, diff)
			}
		})
	}
	if got := text.AppendWords([]string{"a"}, "b"); !cmp.Equal(got, []string{"a", "b"}) {
		t.Errorf("AppendWords does not append: %q", got)
	}
}

func TestElements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{" ", nil},
		{",", nil},
		{" , ,", nil},
		{"a", []string{"a"}},
		{"a,b", []string{"a", "b"}},
		{" a , b c ,", []string{"a", "b c"}},
		{"a,,a", []string{"a", "a"}},
		{"\u00A0é\t,\nB", []string{"é", "B"}},
	} {
		if diff := cmp.Diff(c.want, text.Elements(c.in), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("Elements(%q) (-want +got):\n%s", c.in, diff)
		}
	}
}

func TestEditDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"rose", "rose", 0}, {"rose", "", 4}, {"rose", "nose", 1}, {"rose", "roses", 1}, {"rose", "rse", 1},
		{"rose", "orse", 1}, {"rose", "ores", 2}, {"ab", "bc", 2}, {"kitten", "sitting", 3}, {"abc", "cab", 2},
	} {
		for range 2 { // it is symmetric
			if got := text.EditDistance([]rune(c.a), []rune(c.b)); got != c.want {
				t.Errorf("EditDistance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
			}
			c.a, c.b = c.b, c.a
		}
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
