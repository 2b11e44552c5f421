package delimited

import (
	"bytes"
	"slices"
	"strconv"

	"herbarium/internal/ingest/layout"
)

// verdict is the result of header detection.
type verdict int

const (
	headerUnclear verdict = iota
	headerYes             // a column has numbers or dates below something else
	headerNo              // the first record has the same kinds of values as the others
)

// detectHeader decides whether the first record names the columns of the others.
func detectHeader(first [][]byte, others []layout.Row) verdict {
	var typed []int // columns of numbers or dates, also in the first record
	texts, recurring := 0, 0
	different := slices.DeleteFunc(slices.Clone(others), func(r layout.Row) bool { return slices.EqualFunc(first, r.Cells, bytes.Equal) })
	below := others
	if len(different) > 0 && slices.ContainsFunc(first, func(c []byte) bool { return layout.KindOf(c) == layout.Text }) {
		below = layout.WithoutUnits(different) // the header may be repeated
	}
	for i, name := range first {
		k, n := layout.ColumnKind(below, i)
		switch nameKind := layout.KindOf(name); {
		case n == 0 || nameKind == layout.Missing:
		case k == layout.Text && nameKind == layout.Text:
			texts++
			if slices.ContainsFunc(different, func(r layout.Row) bool { return i < len(r.Cells) && bytes.Equal(r.Cells[i], name) }) {
				recurring++
			}
		case k == layout.Text:
		case k == nameKind:
			typed = append(typed, i)
		default:
			return headerYes
		}
	}
	if len(others) > 1 && (len(typed) > 0 && !areNames(first, below, typed) || recurring >= 2 && 10*recurring >= 7*texts) {
		return headerNo
	}
	return headerUnclear
}

// areNames reports whether the numbers and dates in some columns of the first record may be names: years, or numbers that
// increase from column to column.
func areNames(first [][]byte, others []layout.Row, columns []int) bool {
	var every []int
	for i := range first {
		every = append(every, i)
	}
	if all, _ := integers(first, every); len(all) > 2 && isProgression(all) && all[1] == all[0]+1 {
		return true
	}
	names, ok := integers(first, columns)
	if !ok {
		return false // fractions or dates
	}
	below := func(test func([]int) bool) bool {
		return !slices.ContainsFunc(others, func(r layout.Row) bool { n, ok := integers(r.Cells, columns); return !ok || !test(n) })
	}
	years := areYears(names)
	switch {
	case len(names) == 1:
		return years && !below(areYears)
	case isProgression(names) && (years || names[0] <= 1 && names[1] == names[0]+1):
		return true
	}
	return isIncreasing(names) && (years && !below(areYears) || len(names) > 2 && !below(isIncreasing))
}

// integers returns the integers in some columns of a record, and whether all values are such.
func integers(record [][]byte, columns []int) (numbers []int, ok bool) {
	ok = true
	for _, i := range columns {
		if i >= len(record) {
			break
		}
		n, err := strconv.Atoi(string(bytes.TrimSpace(record[i])))
		if err != nil || n < 0 {
			ok = false
			continue
		}
		numbers = append(numbers, n)
	}
	return numbers, ok
}

func areYears(numbers []int) bool {
	return !slices.ContainsFunc(numbers, func(n int) bool { return n < 1000 || n >= 3000 })
}

func isIncreasing(numbers []int) bool {
	return slices.IsSorted(numbers) && len(slices.Compact(slices.Clone(numbers))) == len(numbers)
}

func isProgression(numbers []int) bool {
	for i := 1; i < len(numbers); i++ {
		if step := numbers[1] - numbers[0]; step == 0 || numbers[i]-numbers[i-1] != step {
			return false
		}
	}
	return true
}
