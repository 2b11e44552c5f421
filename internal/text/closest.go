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
	return closest(w, choices, maxTypo(w))
}

// Misspelled is Closest for a word that may be meant as it is written: it has more than two letters
// and differs from the choice by one edit. Short words that differ by more are often other words.
func Misspelled(word string, choices []string) (choice string, ok bool) {
	w := []rune(Fold(word))
	if len(w) < 3 {
		return "", false
	}
	return closest(w, choices, 1)
}

// TypoDistance returns the edit distance between a word and a choice, ignoring case and accents. ok
// is false if the choice is not close enough for the word to be a likely typo of it.
func TypoDistance(word, choice string) (distance int, ok bool) {
	w := []rune(Fold(word))
	return typoDistance(w, choice, maxTypo(w))
}

// maxTypo returns the maximum edit distance of a typo.
func maxTypo(word []rune) int { return len(word)/3 + 1 }

func closest(word []rune, choices []string, limit int) (choice string, ok bool) {
	for _, c := range choices[:min(len(choices), maxCompared)] {
		if d, isTypo := typoDistance(word, c, limit); isTypo {
			choice, ok, limit = c, true, d-1
		}
	}
	return choice, ok
}

func typoDistance(word []rune, choice string, limit int) (distance int, ok bool) {
	c := []rune(Fold(choice))
	if d := len(word) - len(c); max(d, -d) > limit {
		return 0, false
	}
	distance = editDistance(word, c)
	return distance, distance < len(word) && distance <= limit
}

// editDistance returns the number of insertions, deletions, substitutions and transpositions of
// adjacent characters between two words.
func editDistance(a, b []rune) int {
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
