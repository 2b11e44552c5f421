package delimited

import (
	"bytes"
	"strconv"
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
	v = bytes.TrimLeft(v, "+-$€£¥ ")
	v = bytes.TrimRight(v, "% ")
	digits := 0
	for i, c := range v {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case (c == 'e' || c == 'E') && digits > 0:
			_, err := strconv.Atoi(string(v[i+1:]))
			return err == nil
		case c != '.' && c != ',':
			return false
		}
	}
	return digits > 0
}

func isDate(v []byte) bool {
	digits, separators := 0, 0
	for _, c := range v {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '-' || c == '/' || c == ':':
			separators++
		case c != '.' && c != ' ' && c != 'T' && c != 'Z' && c != '+':
			return false
		}
	}
	return digits >= 3 && separators >= 2
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
	for i, name := range first {
		k, n := columnKind(others, i)
		switch nameKind := kindOf(name); {
		case n == 0 || nameKind == kindMissing:
		case k == kindText && nameKind == kindText:
			texts++
			if recurs(first, others, i) {
				recurring++
			}
		case k == kindText:
		case k == nameKind:
			typed = append(typed, i)
		default:
			return headerYes
		}
	}
	switch {
	case len(others) < 2:
	case len(typed) > 0 && !areNames(first, others, typed):
		return headerNo
	case recurring >= 2 && 10*recurring >= 7*texts:
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

// recurs reports whether a value of the first record occurs in the same column of another, unless that repeats the first.
func recurs(first [][]byte, others [][][]byte, column int) bool {
	for _, r := range others {
		if column < len(r) && bytes.Equal(r[column], first[column]) && !equalRecords(first, r) {
			return true
		}
	}
	return false
}

func equalRecords(a, b [][]byte) bool {
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// areNames reports whether the numbers and dates in some columns of the first record may be names: years, or numbers that
// increase from column to column.
func areNames(first [][]byte, others [][][]byte, columns []int) bool {
	if isNumbered(first) {
		return true
	}
	var numbers []int
	seen := map[int]bool{}
	years := true
	for _, i := range columns {
		n, err := strconv.Atoi(string(bytes.TrimSpace(first[i])))
		if err != nil || n < 0 || seen[n] {
			return false // a fraction, a date, or a repeated number
		}
		seen[n] = true
		numbers = append(numbers, n)
		years = years && n >= 1000 && n < 3000
	}
	switch {
	case len(numbers) == 1:
		return years && !allYears(others, columns[0])
	case isProgression(numbers) && (years || numbers[0] <= 1 && numbers[1] == numbers[0]+1):
		return true
	case years && !allYears(others, columns[0]):
		return isIncreasing(first, columns)
	}
	return len(numbers) > 2 && isIncreasing(first, columns) && !allIncreasing(others, columns)
}

// isNumbered reports whether the integers in a record, at least three, are consecutive.
func isNumbered(record [][]byte) bool {
	var numbers []int
	for _, cell := range record {
		if n, err := strconv.Atoi(string(bytes.TrimSpace(cell))); err == nil {
			numbers = append(numbers, n)
		}
	}
	return len(numbers) > 2 && numbers[1] == numbers[0]+1 && isProgression(numbers)
}

func allYears(records [][][]byte, column int) bool {
	for _, r := range records {
		if column < len(r) && kindOf(r[column]) != kindMissing {
			if n, err := strconv.Atoi(string(bytes.TrimSpace(r[column]))); err != nil || n < 1000 || n >= 3000 {
				return false
			}
		}
	}
	return true
}

func isProgression(numbers []int) bool {
	for i := 1; i < len(numbers); i++ {
		if numbers[i]-numbers[i-1] != numbers[1]-numbers[0] {
			return false
		}
	}
	return true
}

func allIncreasing(records [][][]byte, columns []int) bool {
	for _, r := range records {
		if !isIncreasing(r, columns) {
			return false
		}
	}
	return true
}

// isIncreasing reports whether the integers in some columns of a record increase from column to column.
func isIncreasing(record [][]byte, columns []int) bool {
	last := 0
	for i, column := range columns {
		if column >= len(record) {
			return false
		}
		n, err := strconv.Atoi(string(bytes.TrimSpace(record[column])))
		if err != nil || i > 0 && n <= last {
			return false
		}
		last = n
	}
	return true
}
