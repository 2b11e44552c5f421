package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// AppendWords appends the folded words of s in order. Words follow the Unicode word boundary rules (UAX #29): letters
// and digits including what joins them ("don't", "3.14", "x_y"), single characters in scripts written without spaces,
// and pictographs.
func AppendWords(dst []string, s string) []string {
	if lower, ok := foldASCII(s); ok {
		eachASCIIWord(lower, func(w string) { dst = append(dst, w) })
		return dst
	}
	for it := words.FromString(Fold(s)); it.Next(); {
		if w := it.Value(); isWord(w) {
			dst = append(dst, unquote(w))
		}
	}
	return dst
}

// unquote removes the quotation mark of a Hebrew acronym, which UAX #29 keeps inside the word. In a query it would
// start a phrase.
func unquote(w string) string { return strings.ReplaceAll(w, `"`, "") }

// isWord reports whether a segment is a word rather than white space or punctuation.
func isWord(s string) bool {
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			return true
		}
		if c >= utf8.RuneSelf {
			return strings.ContainsFunc(s, isWordRune)
		}
	}
	return false
}

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || isPictograph(r)
}

// isPictograph reports whether r is an emoji or similar, which people search for, rather than a symbol such as © or °.
func isPictograph(r rune) bool {
	return r >= 0x2600 && unicode.Is(unicode.So, r)
}

// Elements returns the comma-separated elements of a list value, trimmed. Empty elements are skipped.
func Elements(value string) []string {
	var out []string
	for e := range strings.SplitSeq(value, ",") {
		if e = strings.TrimSpace(e); e != "" {
			out = append(out, e)
		}
	}
	return out
}
