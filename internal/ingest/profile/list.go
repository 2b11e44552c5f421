package profile

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of the search for lists.
const (
	maxElement  = 40      // characters of an element; longer ones are sentences
	maxDistinct = 100_000 // elements of one column that are kept to see whether they recur
)

// elements distinguishes lists (shade,hardy) from text with commas (Smith, John): no blank is beside a comma, elements
// are short words, and they recur.
type elements struct {
	ruledOut bool
	lists    int // values with more than one element
	total    int
	distinct map[string]struct{}
}

// observe adds a value without surrounding white space. budget is the number of elements that may still be kept.
func (e *elements) observe(value []byte, budget *int) {
	if bytes.IndexByte(value, ',') >= 0 {
		e.lists++
	}
	for element := range bytes.SplitSeq(value, []byte{','}) {
		e.total++
		if _, known := e.distinct[string(element)]; known {
			continue
		}
		if !isElement(element) || len(e.distinct) >= maxDistinct || *budget == 0 {
			*budget += len(e.distinct)
			*e = elements{ruledOut: true} // releases the memory
			return
		}
		e.distinct[string(element)] = struct{}{}
		*budget--
	}
}

// hold reports whether the values are lists.
func (e *elements) hold() bool {
	return !e.ruledOut && e.lists >= 2 && 2*len(e.distinct) <= e.total
}

// isElement reports whether b is a short word or a few words: it has a letter, no blank at its ends, and no character of
// amounts or of JSON.
func isElement(b []byte) bool {
	return len(b) <= maxElement*utf8.UTFMax && utf8.RuneCount(b) <= maxElement && !hasBlankEnd(b) &&
		bytes.ContainsFunc(b, unicode.IsLetter) && !bytes.ContainsFunc(b, func(r rune) bool { return !isWordRune(r) })
}

// isListName reports whether columns of this name usually hold lists.
func isListName(name string) bool {
	return slices.Contains([]string{"tags", "tag_list", "keywords", "labels", "topics"}, strings.ToLower(name))
}

// isWordRune reports whether a character can be part of a list element.
func isWordRune(r rune) bool {
	if r >= utf8.RuneSelf {
		return !unicode.Is(unicode.Sc, r)
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" -_./&'+#", r)
}
