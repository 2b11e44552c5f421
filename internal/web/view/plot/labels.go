package plot

import (
	"slices"
	"strings"
	"unicode"
)

// maxMeasured is the number of characters of a text that are measured. Longer texts are wider than
// any chart.
const maxMeasured = 1_000

// TextWidth estimates the width of a text in pixels, rather too wide than too narrow: the font of
// the reader is not known. It measures at most maxMeasured characters.
func TextWidth(s string, size float64) float64 {
	em, n := 0.0, 0
	for _, r := range s {
		n++
		if n > maxMeasured {
			break
		}
		em += charWidth(r)
	}
	return em * size
}

// charWidth returns the width of a character in em.
func charWidth(r rune) float64 {
	switch {
	case unicode.Is(unicode.Mn, r):
		return 0
	case r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) ||
		r >= 0x1F000):
		return 1.05
	case r == 'm' || r == 'w' || r == 'M' || r == 'W' || r == '@' || r == '%' || r == '—' || r == '…':
		return 0.92
	case r == 'i' || r == 'l' || r == 'j' || r == 'I' || r == '.' || r == ',' || r == ':' || r == '\'' ||
		r == ' ' || r == '|':
		return 0.34
	case unicode.IsUpper(r):
		return 0.74
	}
	return 0.62
}

// Clip shortens a text to a width, and to maxMeasured characters.
func Clip(s string, size, width float64) string {
	em, n, end := 0.0, 0, 0 // end is the length of what fits before an ellipsis
	for i, r := range s {
		if n <= 1 || (em+charWidth('…'))*size <= width {
			end = i
		}
		n++
		if n > maxMeasured || n > 1 && em*size > width {
			return s[:end] + "…"
		}
		em += charWidth(r)
	}
	switch {
	case em*size <= width:
		return s
	case n == 1:
		return s + "…"
	}
	return s[:end] + "…"
}

// Wrap returns the lines of a text that are not wider than a width, and an ellipsis after the last
// of most lines if there are more. Lines end at spaces; only a word that is wider than a line, such
// as an address, is divided.
func Wrap(s string, size, width float64, most int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(s) {
		if line != "" && TextWidth(line+" "+word, size) <= width {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for len(lines) < most && TextWidth(word, size) > width {
			head := headOf(word, size, width)
			lines, word = append(lines, word[:head]), word[head:]
		}
		line = word
		if len(lines) == most {
			break
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	if len(lines) > most {
		lines = lines[:most]
		lines[most-1] = Clip(lines[most-1]+" …", size, width)
	}
	return lines
}

// headOf returns the length of the first characters of a text that fit into a width, at least one.
func headOf(s string, size, width float64) int {
	em := 0.0
	for i, r := range s {
		em += charWidth(r)
		if i > 0 && em*size > width {
			return i
		}
	}
	return len(s)
}

// Spread returns positions near the wanted ones such that intervals of the given sizes around them
// do not overlap and lie between low and high, as far as they fit.
func Spread(wanted, sizes []float64, low, high float64) []float64 {
	order := make([]int, len(wanted))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case wanted[a] < wanted[b]:
			return -1
		case wanted[a] > wanted[b]:
			return 1
		}
		return 0
	})
	at := slices.Clone(wanted)
	end := low
	for _, i := range order { // push down
		at[i] = max(at[i], end+sizes[i]/2)
		end = at[i] + sizes[i]/2
	}
	end = high
	for k := len(order) - 1; k >= 0; k-- { // push up what is beyond the end
		i := order[k]
		if at[i]+sizes[i]/2 <= end {
			break
		}
		at[i] = end - sizes[i]/2
		end = at[i] - sizes[i]/2
	}
	return at
}
