package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// AppendWords appends the folded words of s in order. Words follow the Unicode word boundary rules (UAX #29): letters
// and digits including what joins them ("don't", "3.14", "x_y"), single characters in scripts written without spaces,
// and pictographs.
func AppendWords(dst []string, s string) []string {
	var split Splitter
	split.Each(s, func(word []byte) { dst = append(dst, string(word)) })
	return dst
}

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

// isWordRune reports whether a character belongs to a word. Pictographs, such as emoji, do; symbols such as © or ° do not.
func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || r >= 0x2600 && unicode.Is(unicode.So, r)
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
