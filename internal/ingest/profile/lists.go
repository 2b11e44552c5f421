package profile

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/text"
)

// Limits of the search for lists.
const (
	maxElement      = 40      // characters of an element; longer ones are sentences
	maxDistinct     = 100_000 // elements of one column that are kept, to find out whether they recur
	minCombinations = 3       // different values with several elements
)

// elements distinguishes lists (shade,hardy) from text with commas (Smith,John): elements are short
// words without a blank beside a comma or digits on both sides of it, and most of them recur in
// several combinations and orders.
type elements struct {
	ruledOut     bool
	lists        int // values with more than one element
	total        int
	distinct     map[string]use
	combinations map[uint64]struct{} // hashes of the different values
	several      int                 // different values with more than one element
	seed         maphash.Seed
}

// use is how an element is used.
type use struct {
	recurs      bool // it occurs in several different values
	first, next bool // it is the first element of some value with several elements, or a later one
}

func newElements() elements {
	return elements{distinct: map[string]use{}, combinations: map[uint64]struct{}{}, seed: maphash.MakeSeed()}
}

// observe adds a value without surrounding white space. budget is the number of elements that may
// still be kept.
func (e *elements) observe(value []byte, budget *int) {
	isSeveral := bytes.IndexByte(value, ',') >= 0
	if isSeveral {
		e.lists++
	}
	hash := maphash.Bytes(e.seed, value)
	if _, known := e.combinations[hash]; known {
		e.total += 1 + bytes.Count(value, []byte{','})
		return
	}
	if len(e.combinations) >= maxDistinct || *budget == 0 || hasDigitsAtComma(value) {
		e.ruleOut(budget)
		return
	}
	e.combinations[hash] = struct{}{}
	if *budget--; isSeveral {
		e.several++
	}
	isFirst := true
	for element := range bytes.SplitSeq(value, []byte{','}) {
		e.total++
		u, known := e.distinct[string(element)]
		if !known {
			if !isElement(element) || len(e.distinct) >= maxDistinct || *budget == 0 {
				e.ruleOut(budget)
				return
			}
			*budget--
		}
		u.recurs, u.first, u.next = known, u.first || isSeveral && isFirst, u.next || !isFirst
		e.distinct[string(element)] = u
		isFirst = false
	}
}

// ruleOut decides that the values are not lists, and returns the memory of the elements to budget.
func (e *elements) ruleOut(budget *int) {
	*budget += len(e.distinct) + len(e.combinations)
	*e = elements{ruledOut: true}
}

// holds reports whether the values are lists: half of the elements recur in other combinations, and
// a quarter of these occur first in one value and later in another. The street and the city of
// addresses recur too, but always in the same place.
func (e *elements) holds() bool {
	recurring, moved := 0, 0
	for _, u := range e.distinct {
		if u.recurs {
			recurring++
		}
		if u.first && u.next {
			moved++
		}
	}
	return e.several >= minCombinations && 2*len(e.distinct) <= e.total && 2*recurring >= len(e.distinct) && 4*moved >= recurring
}

// hasDigitsAtComma reports whether a comma is between digits, as in amounts.
func hasDigitsAtComma(v []byte) bool {
	for i := 1; i+1 < len(v); i++ {
		if v[i] == ',' && isDigit(v[i-1]) && isDigit(v[i+1]) {
			return true
		}
	}
	return false
}

// isElement reports whether b is a short word or a few words: it has a letter, no blank at its
// ends, and no character of amounts or of JSON.
func isElement(b []byte) bool {
	return len(b) <= maxElement*utf8.UTFMax && utf8.RuneCount(b) <= maxElement && !hasBlankEnd(b) &&
		bytes.ContainsFunc(b, unicode.IsLetter) && !bytes.ContainsFunc(b, func(r rune) bool { return !isElementRune(r) })
}

// isElementRune reports whether a character can be part of a list element.
func isElementRune(r rune) bool {
	if r >= utf8.RuneSelf {
		return !text.IsCurrencySign(r)
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" -_./&'+#", r)
}

// isListName reports whether columns of this name usually hold lists.
func isListName(name string) bool {
	return slices.Contains([]string{"tags", "tag_list", "keywords", "labels", "topics"}, strings.ToLower(name))
}
