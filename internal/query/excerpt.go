package query

import (
	"strings"
	"unicode/utf8"

	"herbarium/internal/text"
)

// Limits of an excerpt in characters. Ellipses are not counted.
const (
	maxExcerpt = 200
	// beforeMatch is the maximum number of characters before the first match, unless the value ends
	// soon after it.
	beforeMatch = 40
	// maxPartialWord is the maximum length in bytes of the rest of a word at the start of an
	// excerpt, which is left out.
	maxPartialWord = 20
)

// ellipsis marks a side of an excerpt where the value goes on.
const ellipsis = "…"

// Excerpt returns a value, or the part of a long one around its first match, as parts that
// alternate between plain and found text. The first part is plain; it is empty if the value begins
// with a match. Excerpt returns nil if there is no match. isCut says that value is only the
// beginning of a longer one.
func (m *Marker) Excerpt(field int, value string, isCut bool) (parts []string) {
	found := m.ranges(field, value, isCut)
	if len(found) == 0 {
		return nil
	}
	window := excerptOf(value, found[0], isCut)
	at, before, after := window.Start, "", ""
	if at > 0 {
		before = ellipsis
	}
	for i, r := range found {
		if r.End > window.End && i > 0 { // no part of a match is marked
			window.End = min(window.End, max(r.Start, at))
			break
		}
		r.End = min(r.End, window.End)
		parts = append(parts, before+value[at:r.Start], value[r.Start:r.End])
		at, before = r.End, ""
	}
	if window.End < len(value) || isCut {
		after = ellipsis
	}
	if rest := value[at:window.End] + after; rest != "" {
		parts = append(parts, rest)
	}
	return parts
}

// excerptOf returns the part of a value that is an excerpt around a match.
func excerptOf(value string, match text.Range, isCut bool) text.Range {
	if len(value) <= maxExcerpt || !isCut && utf8.RuneCountInString(value) <= maxExcerpt {
		return text.Range{End: len(value)}
	}
	start := moveBack(value, match.Start, beforeMatch)
	if !isCut {
		start = min(start, moveBack(value, len(value), maxExcerpt))
	}
	if start > 0 {
		rest := value[start:min(start+maxPartialWord, match.Start)]
		if i := strings.IndexByte(rest, ' '); i >= 0 {
			start += i + 1
		}
		start = text.ClusterEnd(value, start)
	}
	end, n := len(value), 0
	for i := range value[start:] {
		if n == maxExcerpt {
			end = start + i
			break
		}
		n++
	}
	if whole := text.ClusterStart(value, end); whole > match.Start {
		end = whole
	}
	return text.Range{Start: start, End: end}
}

// moveBack returns the index of the character that is n characters before an index.
func moveBack(s string, index, n int) int {
	for range n {
		_, size := utf8.DecodeLastRuneInString(s[:index])
		index -= size
	}
	return index
}
