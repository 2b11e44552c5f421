package text_test

import (
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// mark returns a text with brackets around ranges.
func mark(s string, ranges []text.Range) string {
	var b strings.Builder
	at := 0
	for _, r := range ranges {
		b.WriteString(s[at:r.Start] + "[" + s[r.Start:r.End] + "]")
		at = r.End
	}
	return b.String() + s[at:]
}

// TestAppendSpans_folding checks words whose boundaries change when they are folded.
func TestAppendSpans_folding(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ value, words, want string }{
		{"12 m²", "12 m2", "[12] [m²]"},
		{`צה"ל`, "צהל", `[צה"ל]`},
		{"soft\u00ADhyphen, e\u0301te\u0301", "softhyphen ete", "[soft\u00ADhyphen], [e\u0301te\u0301]"},
		{"ﬁn l’Élève", "fin l'eleve", "[ﬁn] [l’Élève]"},
		{"👩\u200D🚀", "👩 🚀", "[👩\u200D🚀]"},
		{"한국어", "한국어", "[한국어]"},
	} {
		var words []string
		var ranges []text.Range
		for _, span := range text.AppendSpans(nil, tt.value) {
			words = append(words, span.Word)
			if n := len(ranges); n == 0 || span.Range != ranges[n-1] {
				ranges = append(ranges, span.Range)
			}
		}
		if got := mark(tt.value, ranges); got != tt.want || strings.Join(words, " ") != tt.words ||
			!slices.Equal(words, text.AppendWords(nil, tt.value)) {
			t.Errorf("%q is %q with the words %q, want %q", tt.value, got, words, tt.want)
		}
	}
}

// TestSubstring_ranges checks where texts contain others, by primary weights.
func TestSubstring_ranges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ part, value, want string }{
		{"rose", "Rose, ROSÉ, prose", "[Rose], [ROSÉ], p[rose]"},
		{"strasse", "Straße 1, Strasse 2", "[Straße] 1, [Strasse] 2"},
		{"aa", "aaaaa", "[aa][aa]a"},
		{"a", "Kræn", "Kr[æ]n"}, // one character with two weights
		{"tree", "e\u0301te\u0301 tre\u0301e\u0301s", "e\u0301te\u0301 [tre\u0301e\u0301]s"},
		{"ab", "a\u200Db", "[a\u200Db]"},
		{"植物", "東京植物園", "東京[植物]園"},
		{"국", "한국어", "한[국]어"},
		{"ёл", "Ёлка, елка", "[Ёл]ка, [ел]ка"},
		{"ก", "ไก่ กา", "[ไก่] [ก]า"}, // the weights of a vowel follow those of its consonant
		{"x", "rose", "rose"},
		{"", "rose", "rose"},
		{"\u0301", "rose\u0301", "rose\u0301"}, // has no primary weight
	} {
		if got := mark(tt.value, text.NewSubstring(tt.part).AppendRanges(nil, tt.value)); got != tt.want {
			t.Errorf("%q in %q: %q, want %q", tt.part, tt.value, got, tt.want)
		}
		r, ok := text.NewSubstring(tt.part).PrefixIn(tt.value)
		if ok != strings.HasPrefix(tt.want, "[") || ok && r.End != strings.IndexByte(tt.want, ']')-1 {
			t.Errorf("%q begins with %q at %v, %t", tt.value, tt.part, r, ok)
		}
	}
}

// TestDeriveSearchText checks that the text is that of SearchText, and where its elements are in
// the value.
func TestDeriveSearchText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		field       herb.Field
		value, want string
	}{
		{herb.Field{Type: herb.TypeText}, " a, b ", "[ a, b ]"},
		{herb.Field{Type: herb.TypeList}, " a,, b c ", " [a],, [b c] "},
		{herb.Field{Type: herb.TypeList}, ",", ","},
		{listOfJSON(), `["a, b", "", null,1.5, true ]`, `["[a, b]", "", null,[1.5], [true] ]`},
		{listOfJSON(), `["é\"\u00e9\ud83c\udf39"]`, `["[é\"\u00e9\ud83c\udf39]"]`},
		{listOfJSON(), `[]`, `[]`},
		{listOfJSON(), `a, b`, `[a], [b]`}, // not an array
	} {
		d, elements := text.DeriveSearchText(&tt.field, tt.value, false)
		var found []string
		origins := make([]text.Range, len(elements))
		for i, e := range elements {
			found = append(found, string(d.Text[e.Start:e.End]))
			origins[i] = d.Origin(e)
		}
		if got := mark(tt.value, origins); got != tt.want {
			t.Errorf("%s has the elements %s, want %s", tt.value, got, tt.want)
		}
		if tt.field.Type == herb.TypeList && !slices.Equal(found, text.Elements(&tt.field, tt.value)) {
			t.Errorf("%s has the elements %q", tt.value, found)
		}
	}
	f := listOfJSON()
	d, elements := text.DeriveSearchText(&f, `["a","b","c`, true)
	if string(d.Text) != "a, b" || len(elements) != 2 {
		t.Errorf("%q and %d elements of an array that was cut off", d.Text, len(elements))
	}
}

func listOfJSON() herb.Field {
	return herb.Field{Type: herb.TypeList, Notation: herb.Notation{JSON: true}}
}

// TestClusterStart checks boundaries of grapheme clusters.
func TestClusterStart(t *testing.T) {
	t.Parallel()
	const s = "ae\u0301b👩\u200D🚀🇩🇪🇫🇷"
	want := []int{0, 1, 4, 5, 16, 24, 32}
	for at := range len(s) + 1 {
		i, exact := slices.BinarySearch(want, at)
		end := want[i]
		if !exact {
			i--
		}
		if start := text.ClusterStart(s, at); start != want[i] || text.ClusterEnd(s, at) != end {
			t.Errorf("the cluster at %d is from %d to %d, want %d and %d", at, start, text.ClusterEnd(s, at), want[i], end)
		}
	}
}
