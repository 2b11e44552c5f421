// Package kind says what kind a single value is: a number, a date, text, or a sign for a missing
// value. The layout of a table and the types of its columns depend on it.
package kind

import (
	"bytes"
	"strconv"
	"strings"
)

// Kind is a kind of values, or a set of several kinds.
type Kind uint8

// The kinds of values.
const (
	Text Kind = 1 << iota
	Number
	Code // number with a zero-padded format
	Date
	Datetime
	Boolean
	Other   // anything else that is not text, such as errors, times of day and arrays
	Missing // no value, or a marker of one
)

// Of returns what a value appears to be, in a wide sense: only the layout depends on it. A date has
// at least three numbers, such as a year, a month and a day. Datetimes are dates.
func Of(v []byte) Kind {
	const separators, maxTyped = "-/:. T", 100
	if v = bytes.TrimSpace(v); len(v) > maxTyped {
		return Text
	}
	if len(bytes.Trim(v, "-_=.*?:")) == 0 { // empty, a rule, or a sign for a missing value
		return Missing
	}
	switch string(bytes.ToLower(v)) {
	case "na", "n/a", "null", "none", "nan", `\n`, "#n/a", "[x]", "[z]", "[c]":
		return Missing
	case "true", "false":
		return Boolean
	}
	digits := strings.ReplaceAll(strings.Trim(string(v), "+-$€£¥%<>≤≥ "), ",", "")
	if _, err := strconv.ParseFloat(digits, 64); err == nil && digits[len(digits)-1] <= '9' { // not infinity
		return Number
	}
	isSeparator := func(r rune) bool { return strings.ContainsRune(separators, r) }
	if len(bytes.Trim(v, "0123456789Z+"+separators)) == 0 && len(bytes.FieldsFunc(v, isSeparator)) >= 3 {
		return Date
	}
	return Text
}
