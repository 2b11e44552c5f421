package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold normalizes s for search: it removes differences of case, accents and compatibility forms.
// "Straße", "STRASSE" and "strasse" fold to the same string, and so do "Ångström" and "angstrom".
// Fold is idempotent.
//
// Only accents are dropped. Marks that distinguish letters, such as Devanagari vowel signs or the
// voicing mark of が, are kept.
func Fold(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return strings.ToLower(s)
	}
	plain := strings.Map(func(r rune) rune {
		switch {
		case isIgnored(r):
			return -1
		case unicode.Is(unicode.Cherokee, r): // cases.Fold swaps the two cases of Cherokee instead of unifying them
			return unicode.ToLower(r)
		}
		return r
	}, baseLetters.Replace(norm.NFKD.String(strings.ToValidUTF8(s, "\uFFFD"))))
	return norm.NFKC.String(cases.Fold().String(plain))
}

// baseLetters replaces letters that Unicode does not decompose by those that people type. The first
// are apostrophes and the zero-width space.
var baseLetters = strings.NewReplacer("\u2018", "'", "\u2019", "'", "\u02BC", "'", "\u200B", " ", "Ø", "o", "ø",
	"o", "Ł", "l",
	"ł", "l", "Đ", "d", "đ", "d", "Ð", "d", "ð", "d", "Ħ", "h", "ħ", "h", "Ŧ", "t", "ŧ", "t", "ı", "i", "Æ",
	"ae", "æ", "ae",
	"Œ", "oe", "œ", "oe")

// isIgnored reports whether search ignores a rune of decomposed text: an accent, or an invisible
// character (soft hyphen, joiner, direction mark, variation selector).
func isIgnored(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return false
	case 0x0300 <= r && r <= 0x036F, // combining diacritical marks
		0x1AB0 <= r && r <= 0x1AFF,
		0x1DC0 <= r && r <= 0x1DFF,
		0x20D0 <= r && r <= 0x20FF,
		0xFE20 <= r && r <= 0xFE2F,
		0x0483 <= r && r <= 0x0489, // Cyrillic titlo and the like
		// Hebrew points.
		0x0591 <= r && r <= 0x05BD, r == 0x05BF, r == 0x05C1, r == 0x05C2, r == 0x05C4, r == 0x05C5, r == 0x05C7,
		// Arabic vowel marks and tatweel.
		0x064B <= r && r <= 0x065F, r == 0x0670, r == 0x0640,
		0xFE00 <= r && r <= 0xFE0F, 0xE0100 <= r && r <= 0xE01EF, // variation selectors
		0x1F3FB <= r && r <= 0x1F3FF: // skin tones
		return true
	}
	return unicode.Is(unicode.Cf, r)
}
