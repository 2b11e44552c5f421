package text

// Closest returns the choice most like a word that was probably mistyped; ok is false when none is near enough to be
// meant.
func Closest(word string, choices []string) (choice string, ok bool) {
	w := []rune(Fold(word))
	limit := len(w)/3 + 1 // edits that still count as a slip
	for _, c := range choices {
		r := []rune(Fold(c))
		if d := len(w) - len(r); max(d, -d) > limit {
			continue
		}
		if d := distance(w, r); d < len(w) && d <= limit {
			choice, ok, limit = c, true, d-1
		}
	}
	return choice, ok
}

// distance counts the edits between two words: insertion, deletion, replacement, and the swap of two neighbours.
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
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
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
