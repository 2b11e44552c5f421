package text

import "strconv"

// maxCompared is how many choices Closest compares.
const maxCompared = 1000

// Closest returns the choice with the smallest edit distance to word, ignoring case and accents. ok
// is false if no choice is close enough to be a likely typo. The first of equally close choices
// wins. Only the first thousand are compared, because a dataset may have ten thousand fields, and
// this takes time for each.
func Closest(word string, choices []string) (choice string, ok bool) {
	w := []rune(Fold(word))
	limit := len(w)/3 + 1 // maximum edit distance of a typo
	for _, c := range choices[:min(len(choices), maxCompared)] {
		r := []rune(Fold(c))
		if d := len(w) - len(r); max(d, -d) > limit {
			continue
		}
		if d := EditDistance(w, r); d < len(w) && d <= limit {
			choice, ok, limit = c, true, d-1
		}
	}
	return choice, ok
}

// EditDistance returns the number of insertions, deletions, substitutions and transpositions of
// adjacent characters between two words.
func EditDistance(a, b []rune) int {
	beforeLast, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], beforeLast[j-2]+1)
			}
		}
		beforeLast, last, row = last, row, beforeLast
	}
	return last[len(b)]
}

// Suggestion returns the punctuation between an unknown word and the list of choices, with the
// closest choice if there is one: `; did you mean "x"?` or ";".
func Suggestion(word string, choices []string) string {
	if c, ok := Closest(word, choices); ok {
		return "; did you mean " + strconv.Quote(c) + "?"
	}
	return ";"
}
