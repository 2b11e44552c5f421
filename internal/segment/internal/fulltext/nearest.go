package fulltext

import (
	"bytes"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// maxCompared is the number of terms that Nearest compares with a word.
const maxCompared = 200_000

// Nearest returns the term that a word which is not in the index may be a typo of: the one with the
// smallest edit distance, of several the one in most records. ok is false if the word is in the
// index, has a digit or no term is close enough. If isPrefix is true, the word may be the beginning
// of the term. Terms with digits are codes and numbers, of which one is not a typo of another.
//
// A file with more terms than can be compared is searched for terms that begin with the same
// letter, because typos rarely concern the first one.
func (w *Index) Nearest(st *guard.Steps, word string, isPrefix bool) (nearest WordCount, ok bool) {
	if len(word) > maxWord || !strings.ContainsFunc(word, unicode.IsLetter) ||
		strings.ContainsFunc(word, unicode.IsDigit) || w.contains(word, isPrefix) {
		return nearest, false
	}
	from, to := 0, w.terms.Len()
	if to > maxCompared {
		_, size := utf8.DecodeRuneInString(word)
		from, to = w.terms.WithPrefix(word[:size])
		to = min(to, from+maxCompared)
	}
	length := utf8.RuneCountInString(word)
	limit := 1 + length/longWord
	letters, width := letterSet([]byte(word)), 1
	for _, r := range word {
		width = max(width, utf8.RuneLen(r))
	}
	for i := from; i < to; i++ {
		st.Add(1)
		b := w.terms.At(i)
		// An edit removes the bytes of one letter, so that a near term lacks few bytes of the word.
		if len(b) > maxWord || bits.OnesCount64(letters&^letterSet(b)) > limit*width ||
			utf8.RuneCount(b) < length-limit || bytes.ContainsFunc(b, unicode.IsDigit) {
			continue
		}
		st.Add(comparedSteps)
		term := string(b)
		compared := term
		if runes := []rune(term); len(runes) > length {
			if isPrefix {
				compared = string(runes[:length])
			} else if len(runes) > length+limit {
				continue
			}
		}
		distance, isTypo := text.TypoDistance(word, compared)
		if !isTypo || distance > limit {
			continue
		}
		if n := w.docs.Set(int(w.ids.At(i))).Len(); !ok || distance < limit || n > nearest.Records {
			nearest, limit, ok = WordCount{term, n}, distance, true
		}
	}
	return nearest, ok
}

const (
	maxWord  = 60 // bytes of a word that may have a typo
	longWord = 6  // letters for which one more edit is a typo
	// comparedSteps is the number of steps to compute an edit distance.
	comparedSteps = 16
)

// letterSet returns the bytes of a word as a set of their lower six bits.
func letterSet(word []byte) (set uint64) {
	for _, b := range word {
		set |= 1 << (b & 63)
	}
	return set
}

// contains reports whether the index has a word, or a word with a prefix.
func (w *Index) contains(word string, isPrefix bool) bool {
	if isPrefix {
		from, to := w.terms.WithPrefix(word)
		return from < to
	}
	_, ok := w.terms.Find(word)
	return ok
}
