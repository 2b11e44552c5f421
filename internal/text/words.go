package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// AppendWords appends the words of s, folded, in the order they stand there. What a word is follows the Unicode word
// rules (UAX #29): letters and digits with what joins them ("don't", "3.14", "x_y"), a single character in scripts that
// are written without spaces, and a pictograph.
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

// unquote drops the quotation mark of a Hebrew acronym, which UAX #29 keeps inside the word. In a query it would read as
// the start of a phrase.
func unquote(w string) string { return strings.ReplaceAll(w, `"`, "") }

// isWord tells the segments that are words from blanks and punctuation.
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

// isPictograph tells emoji and the like, which people do search for, from signs such as © and °, which they do not.
func isPictograph(r rune) bool {
	return r >= 0x2600 && unicode.Is(unicode.So, r)
}

// Elements returns the elements of a list value: what stands between the commas, without the blanks around it. Empty
// elements do not count.
func Elements(value string) []string {
	var out []string
	for e := range strings.SplitSeq(value, ",") {
		if e = strings.TrimSpace(e); e != "" {
			out = append(out, e)
		}
	}
	return out
}
