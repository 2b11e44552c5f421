// Package text defines how text is compared and split: sort keys, case folding, words, list
// elements and search scores. All engines share these rules, so their results agree.
package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// AppendWords appends the folded words of s in order. Words follow the Unicode word boundary rules
// (UAX #29): letters and digits including what joins them ("don't", "3.14", "x_y"), single
// characters in scripts written without spaces, and pictographs.
func AppendWords(dst []string, s string) []string {
	var split Splitter
	split.Each(s, func(word []byte) { dst = append(dst, string(word)) })
	return dst
}

// EndsInWord reports whether a text ends in a word, so that what is written after it may continue
// the word. The last character need not be a letter: an underscore after a letter belongs to the
// word.
func EndsInWord(s string) bool {
	last := ""
	for it := words.FromString(Fold(s)); it.Next(); {
		last = it.Value()
	}
	return isWord(last)
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

// isWordRune reports whether a character belongs to a word. Pictographs, such as emoji, do; symbols
// such as © or ° do not.
func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || r >= 0x2600 && unicode.Is(unicode.So, r)
}

// Splitter splits values into the same words as AppendWords, without allocating strings. The zero
// value is ready to use. It is not safe for concurrent use.
type Splitter struct{ folded []byte }

// Each calls f for each word of a value, in order. The word is only valid until f returns.
func (s *Splitter) Each(value string, f func(word []byte)) {
	if s.foldASCII(value) {
		eachASCIIWord(s.folded, f)
		return
	}
	for it := words.FromString(Fold(value)); it.Next(); {
		if w := it.Value(); isWord(w) {
			// UAX #29 keeps the quotation mark of a Hebrew acronym inside the word. In a query it
			// would start a phrase.
			s.folded = append(s.folded[:0], strings.ReplaceAll(w, `"`, "")...)
			f(s.folded)
		}
	}
}

// foldASCII folds ASCII into s.folded. It returns false for other text.
func (s *Splitter) foldASCII(value string) bool {
	s.folded = slices.Grow(s.folded[:0], len(value))[:len(value)]
	seen := byte(0)
	for i := range s.folded {
		c := value[i]
		seen |= c
		if c-'A' <= 'Z'-'A' {
			c += 'a' - 'A'
		}
		s.folded[i] = c
	}
	return seen < utf8.RuneSelf
}

// kind is the word-break class of an ASCII character.
type kind uint8

const (
	letter kind = 1 << iota
	digit
	underscore
	midLetter // joins two letters if between them
	midDigit  // joins two digits if between them
)

// kinds are the word-break classes of the characters of folded ASCII text.
var kinds = [128]kind{
	'_': underscore, ':': midLetter, '.': midLetter | midDigit, '\'': midLetter | midDigit,
	',': midDigit, ';': midDigit,
	'0': digit, '1': digit, '2': digit, '3': digit, '4': digit, '5': digit, '6': digit, '7': digit,
	'8': digit, '9': digit,
	'a': letter, 'b': letter, 'c': letter, 'd': letter, 'e': letter, 'f': letter, 'g': letter, 'h': letter, 'i': letter,
	'j': letter, 'k': letter, 'l': letter, 'm': letter, 'n': letter, 'o': letter, 'p': letter, 'q': letter, 'r': letter,
	's': letter, 't': letter, 'u': letter, 'v': letter, 'w': letter, 'x': letter, 'y': letter, 'z': letter,
}

// eachASCIIWord calls f for each word of folded ASCII text. It implements the ASCII subset of UAX
// #29, several times as fast as the general algorithm.
func eachASCIIWord(s []byte, f func(word []byte)) {
	for i := 0; i < len(s); {
		last := kinds[s[i]]
		if last&(letter|digit|underscore) == 0 {
			i++
			continue
		}
		start, seen := i, last
		for i++; i < len(s); i++ {
			k := kinds[s[i]]
			if k&(letter|digit|underscore) == 0 {
				if i+1 == len(s) {
					break
				}
				next := kinds[s[i+1]]
				joins := k&midLetter != 0 && last&next&letter != 0 || k&midDigit != 0 && last&next&digit != 0
				if !joins {
					break
				}
				i++
				k = next
			}
			last = k
			seen |= k
		}
		if seen&(letter|digit) != 0 {
			f(s[start:i])
		}
	}
}
