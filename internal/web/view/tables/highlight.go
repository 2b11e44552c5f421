package tables

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
	"herbarium/internal/web/view/plot"
)

// Piece is a part of a text, which the search matches or not.
type Piece struct {
	Text string
	Mark bool
}

// highlighter finds the words of a search in values.
type highlighter struct {
	clauses []query.Clause // those that must occur
	spans   []text.Span
}

func newHighlighter(search *query.Search) *highlighter {
	h := &highlighter{}
	if search != nil {
		for _, c := range search.Clauses {
			if !c.Exclude && len(c.Words) > 0 {
				h.clauses = append(h.clauses, c)
			}
		}
	}
	return h
}

// matches reports whether a value contains one of the clauses.
func (h *highlighter) matches(value string) bool {
	return len(h.ranges(value)) > 0
}

// pieces splits a text at the matches. It returns nil if there are none.
func (h *highlighter) pieces(s string) (out []Piece) {
	at := 0
	for _, r := range h.ranges(s) {
		if r[0] > at {
			out = append(out, Piece{Text: s[at:r[0]]})
		}
		out = append(out, Piece{Text: s[r[0]:r[1]], Mark: true})
		at = r[1]
	}
	if len(out) > 0 && at < len(s) {
		out = append(out, Piece{Text: s[at:]})
	}
	return out
}

// excerpt cuts off the start of a text whose first match would not be visible in a cell of a width
// in pixels.
func (h *highlighter) excerpt(s string, width int) string {
	const before = 10 // characters
	found := h.ranges(s)
	if len(found) == 0 {
		return s
	}
	start := found[0][0]
	if plot.TextWidth(s[:found[0][1]], fontSize) <= float64(width) {
		return s
	}
	for range before {
		_, size := utf8.DecodeLastRuneInString(s[:start])
		start -= size
	}
	if i := strings.IndexByte(s[start:found[0][0]], ' '); i >= 0 { // begins with a whole word
		start += i + 1
	}
	return "…" + s[start:]
}

// ranges returns the start and end of the matches, in order and without overlaps.
func (h *highlighter) ranges(s string) (found [][2]int) {
	if s == "" || len(h.clauses) == 0 {
		return nil
	}
	h.spans = text.AppendSpans(h.spans[:0], s)
	for i := 0; i < len(h.spans); i++ {
		for _, c := range h.clauses {
			if n := matchClause(c, h.spans[i:]); n > 0 {
				found = append(found, [2]int{h.spans[i].Start, h.spans[i+n-1].End})
				i += n - 1
				break
			}
		}
	}
	return found
}

// matchClause returns how many words at the start of spans are those of a clause; 0 if they are
// others.
func matchClause(c query.Clause, spans []text.Span) int {
	if len(spans) < len(c.Words) {
		return 0
	}
	if slices.Contains(c.Forms, spans[0].Word) {
		return 1
	}
	for i, w := range c.Words {
		isPrefix := c.Prefix && i == len(c.Words)-1
		if spans[i].Word != w && !(isPrefix && strings.HasPrefix(spans[i].Word, w)) {
			return 0
		}
	}
	return len(c.Words)
}

// bringIntoView returns the columns that move to the place after the pinned one, such that the
// first ones contain a match of each row, as far as possible: columns with matches in rows without
// a match among the first ones, those with the most rows first. A reader then sees why a row was
// found.
func bringIntoView(h *highlighter, columns []int, rows []herb.Record, fields []herb.Field) []int {
	const inView = 6
	first := columns[:min(len(columns), inView)]
	var open [][]int        // of each row without a match in view, the columns with a match
	counts := map[int]int{} // of such rows, by column
	for _, row := range rows {
		var matching []int
		for i, value := range row {
			if fields[i].Searchable && h.matches(value) {
				matching = append(matching, i)
			}
		}
		if slices.ContainsFunc(matching, func(i int) bool { return slices.Contains(first, i) }) {
			continue
		}
		open = append(open, matching)
		for _, i := range matching {
			counts[i]++
		}
	}
	var moved []int
	for _, i := range slices.SortedFunc(maps.Keys(counts),
		func(a, b int) int { return cmp.Or(counts[b]-counts[a], a-b) }) {
		others := slices.DeleteFunc(slices.Clone(open),
			func(matching []int) bool { return slices.Contains(matching, i) })
		if len(others) < len(open) && len(moved) < inView-2 {
			moved, open = append(moved, i), others
		}
	}
	return moved
}

// moveToFront returns columns with some of them, or others, after the first one.
func moveToFront(columns, moved []int) []int {
	rest := slices.DeleteFunc(slices.Clone(columns[1:]), func(c int) bool { return slices.Contains(moved, c) })
	return slices.Concat(columns[:1], moved, rest)
}
