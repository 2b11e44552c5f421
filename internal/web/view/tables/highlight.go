package tables

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/plot"
	"herbarium/internal/web/view/state"
)

// Piece is a part of a text, which the request matches or not.
type Piece struct {
	Text string
	Mark bool
}

// highlighter marks what a request searches for in values as the page shows them.
type highlighter struct{ *query.Marker }

func newHighlighter(s *state.State, req *query.Request) highlighter {
	return highlighter{query.NewMarker(s.Fields, req.Search, req.Conditions)}
}

// matches reports whether a value of a field has a mark.
func (h highlighter) matches(field int, value string) bool { return len(h.Ranges(field, value)) > 0 }

// pieces splits the text of a field at the marks. It returns nil if there are none.
func (h highlighter) pieces(field int, s string) (out []Piece) {
	at := 0
	for _, r := range h.Ranges(field, s) {
		if r.Start > at {
			out = append(out, Piece{Text: s[at:r.Start]})
		}
		out = append(out, Piece{Text: s[r.Start:r.End], Mark: true})
		at = r.End
	}
	if len(out) > 0 && at < len(s) {
		out = append(out, Piece{Text: s[at:]})
	}
	return out
}

// excerpt cuts off the start of a text whose first mark would not be visible in a cell of a width
// in pixels.
func (h highlighter) excerpt(field int, s string, width int) string {
	const before = 10 // characters
	found := h.Ranges(field, s)
	if len(found) == 0 || found[0].Start == 0 {
		return s
	}
	start := found[0].Start
	if plot.TextWidth(s[:found[0].End], fontSize) <= float64(width) {
		return s
	}
	for range before {
		_, size := utf8.DecodeLastRuneInString(s[:start])
		start -= size
	}
	if i := strings.IndexByte(s[start:found[0].Start], ' '); i >= 0 { // begins with a whole word
		start += i + 1
	}
	return "…" + s[start:]
}

// bringIntoView returns the columns that move to the place after the pinned one, such that the
// first ones contain a match of each row, as far as possible: columns with matches in rows without
// a match among the first ones, those with the most rows first. A reader then sees why a row was
// found.
func bringIntoView(h highlighter, columns []int, rows []herb.Record) []int {
	const inView = 6
	first := columns[:min(len(columns), inView)]
	var open [][]int        // of each row without a match in view, the columns with a match
	counts := map[int]int{} // of such rows, by column
	for _, row := range rows {
		var matching []int
		for i, value := range row {
			if h.matches(i, value) {
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
