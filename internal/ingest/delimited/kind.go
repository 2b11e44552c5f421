package delimited

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// kind is what a value appears to be.
type kind int

const (
	kindMissing kind = iota
	kindText
	kindNumber
	kindDate
)

// kindOf returns the kind of a value, in a wide sense: only the header depends on it.
func kindOf(v []byte) kind {
	v = bytes.TrimSpace(v)
	switch string(v) {
	case "", "NA", "N/A", "n/a", "na", "null", "NULL", "None", "NaN", "nan", "?", "-", ".", "..", "--", `\N`, "#N/A":
		return kindMissing
	}
	if isNumber(v) {
		return kindNumber
	}
	if isDate(v) {
		return kindDate
	}
	return kindText
}

func isNumber(v []byte) bool {
	digits := strings.ReplaceAll(strings.Trim(string(v), "+-$€£¥% "), ",", "")
	_, err := strconv.ParseFloat(digits, 64)
	return err == nil && digits[len(digits)-1] <= '9' // not infinity
}

// isDate reports whether a value has at least three numbers, such as a year, a month and a day.
func isDate(v []byte) bool {
	const separators = "-/:. T"
	numbers := bytes.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(separators, r) })
	return len(numbers) >= 3 && len(bytes.Trim(v, "0123456789Z+"+separators)) == 0
}

// verdict is the result of header detection.
type verdict int

const (
	headerUnclear verdict = iota
	headerYes             // a column has numbers or dates below something else
	headerNo              // the first record has the same kinds of values as the others
)

// detectHeader decides whether the first record names the columns of the others.
func detectHeader(first [][]byte, others [][][]byte) verdict {
	var typed []int // columns of numbers or dates, also in the first record
	texts, recurring := 0, 0
	different := slices.DeleteFunc(slices.Clone(others), func(r [][]byte) bool { return slices.EqualFunc(first, r, bytes.Equal) })
	for i, name := range first {
		k, n := columnKind(others, i)
		switch nameKind := kindOf(name); {
		case n == 0 || nameKind == kindMissing:
		case k == kindText && nameKind == kindText:
			texts++
			if slices.ContainsFunc(different, func(r [][]byte) bool { return i < len(r) && bytes.Equal(r[i], name) }) {
				recurring++
			}
		case k == kindText:
		case k == nameKind:
			typed = append(typed, i)
		default:
			return headerYes
		}
	}
	if len(others) > 1 && (len(typed) > 0 && !areNames(first, others, typed) || recurring >= 2 && 10*recurring >= 7*texts) {
		return headerNo
	}
	return headerUnclear
}

// columnKind returns the kind that all n values of a column have, kindText if they differ.
func columnKind(records [][][]byte, column int) (k kind, n int) {
	for _, r := range records {
		if column >= len(r) {
			continue
		}
		switch got := kindOf(r[column]); {
		case got == kindMissing:
		case n > 0 && got != k:
			return kindText, n
		default:
			k = got
			n++
		}
	}
	return k, n
}

// areNames reports whether the numbers and dates in some columns of the first record may be names: years, or numbers that
// increase from column to column.
func areNames(first [][]byte, others [][][]byte, columns []int) bool {
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
		return !slices.ContainsFunc(others, func(r [][]byte) bool { n, ok := integers(r, columns); return !ok || !test(n) })
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
