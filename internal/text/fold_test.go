package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"herbarium/internal/text"
)

func TestFold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", "rose 42", "rose 42"},
		{"case", "ROSE Rose", "rose rose"},
		{"accents", "Crème Brûlée", "creme brulee"},
		{"Scandinavian", "Ångström Øre smørrebrød", "angstrom ore smorrebrod"},
		{"ligatures that are letters", "Æther Œuvre", "aether oeuvre"},
		{"Polish", "Łódź", "lodz"},
		{"Vietnamese", "Đường Việt", "duong viet"},
		{"Icelandic and Maltese", "Ðð Ħħ Ŧŧ", "dd hh tt"},
		{"combining", "cafe\u0301", "cafe"},
		{"many marks", "z\u0351\u032b\u0343a\u0363lgo", "zalgo"},
		{"German", "Straße STRASSE GROẞ", "strasse strasse gross"},
		{"umlauts", "Müller", "muller"},
		{"Turkish", "İstanbul ISTANBUL ıstanbul", "istanbul istanbul istanbul"},
		{"Greek", "Ὀδυσσεύς ΟΔΥΣΣΕΥΣ", "οδυσσευσ οδυσσευσ"},
		{"Cyrillic", "Ёлка", "елка"},
		{"Cherokee", "ᏣᎳᎩ ꮳꮃꭹ", "ᏣᎳᎩ ᏣᎳᎩ"},
		{"ligature", "ﬁne", "fine"},
		{"full width", "ＦＵＬＬ１２", "full12"},
		{"half width kana", "ﾊﾞﾗ", "バラ"},
		{"kana keep their voicing", "が ガ ぱ", "が ガ ぱ"},
		{"decomposed kana", "か\u3099", "が"},
		{"Devanagari keeps its signs", "हिन्दी", "हिन्दी"},
		{"Thai keeps its signs", "ที่นี่", "ที่นี่"},
		{"Hangul", "한국어", "한국어"},
		{"decomposed Hangul", "\u1112\u1161\u11ab", "한"},
		{"Hebrew points", "שָׁלוֹם", "שלום"},
		{"Arabic marks and tatweel", "مَرْحَبـًا", "مرحبا"},
		{"apostrophes", "don’t donʼt", "don't don't"},
		{"soft hyphen", "co\u00ADoperate", "cooperate"},
		{"joiners and direction marks", "a\u200Db\u200Ec\u2060d\uFEFFe", "abcde"},
		{"zero width space separates", "a\u200Bb", "a b"},
		{"no-break space", "a\u00A0b", "a b"},
		{"emoji", "🌹", "🌹"},
		{"emoji with a variation selector", "❤\uFE0F", "❤"},
		{"skin tone", "👍🏽", "👍"},
		{"joined emoji", "👩\u200D🌾", "👩🌾"},
		{"circled and squared", "Ⓐ㎏", "akg"},
		{"superscript", "m²", "m2"},
		{"keycap", "1\uFE0F\u20E3", "1"},
	} {
		if got := text.Fold(c.in); got != c.want {
			t.Errorf("%s: Fold(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
		checkStable(t, c.in)
	}
}

// checkStable checks that Fold is idempotent and that a word is not split again.
func checkStable(t *testing.T, s string) {
	t.Helper()
	once := text.Fold(s)
	if twice := text.Fold(once); twice != once {
		t.Errorf("Fold(%+q) = %+q, Fold of that %+q", s, once, twice)
	}
	for _, w := range text.AppendWords(nil, s) {
		if again := text.AppendWords(nil, w); len(again) != 1 || again[0] != w {
			t.Errorf("the word %+q of %+q splits into %+q", w, s, again)
		}
	}
}

// TestFoldEveryRune folds each character after a letter. It skips planes that contain only
// ideographs or nothing.
func TestFoldEveryRune(t *testing.T) {
	t.Parallel()
	for r := range rune(0xE1000) {
		if !utf8.ValidRune(r) || 0x20000 <= r && r < 0xE0000 {
			continue
		}
		s := "a" + string(r)
		checkStable(t, s)
		if small, once := text.Fold(strings.ToLower(s)), text.Fold(s); small != once {
			t.Errorf("%U: %q folds to %q, its lower case to %q", r, s, once, small)
		}
	}
}

func FuzzFold(f *testing.F) {
	for _, s := range []string{
		"Straße", "İIıi", "か\u3099ﾊﾞ", "हिन्दी", "צה\"ל", "א'", "don’t x_y 3.14 1,000", "👩‍🌾🇹🇷🇹", "a\u0345\u0301b",
		"\u1112\u1161\u11ab",
		"\xff\xfe", "\xf2Ĩ", "ΐ\u0390ẚŉ", "カﾞ゛", "\u200b\u00ad", "AB-12/7", "ſtﬅ",
	} {
		f.Add(s)
	}
	f.Fuzz(checkStable)
}
