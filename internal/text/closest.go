package text

import (
	"slices"
	"strconv"
)

// Closest returns the choice with the smallest edit distance to word, ignoring case and accents. ok is false if no
// choice is close enough to be a likely typo. The first of equally close choices wins.
func Closest(word string, choices []string) (choice string, ok bool) {
	w := []rune(Fold(word))
	limit := len(w)/3 + 1 // maximum edit distance of a typo
	var rows distanceRows
	for _, c := range choices {
		r := []rune(Fold(c))
		if d := len(w) - len(r); max(d, -d) > limit {
			continue
		}
		if d := rows.distance(w, r, limit); d < len(w) && d <= limit {
			choice, ok, limit = c, true, d-1
		}
	}
	return choice, ok
}

// distanceRows holds the last three rows of the edit distance matrix for reuse.
type distanceRows [3][]int

// distance returns the number of insertions, deletions, substitutions and transpositions of adjacent characters between two
// words, or a number above limit if there are more than that.
func (rows *distanceRows) distance(a, b []rune, limit int) int {
	for i := range rows {
		rows[i] = slices.Grow(rows[i][:0], len(b)+1)[:len(b)+1]
	}
	beforeLast, last, row := rows[0], rows[1], rows[2]
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], beforeLast[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit+1 { // a transposition may still use the row before this one
			return least
		}
		beforeLast, last, row = last, row, beforeLast
	}
	return last[len(b)]
}

// Suggestion returns the punctuation between an unknown word and the list of choices, with the closest choice if there is
// one: `; did you mean "x"?` or ";".
func Suggestion(word string, choices []string) string {
	if c, ok := Closest(word, choices); ok {
		return "; did you mean " + strconv.Quote(c) + "?"
	}
	return ";"
}
