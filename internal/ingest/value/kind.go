package value

import "herbarium/internal/text"

// Kind is a kind of values, or a set of several kinds.
type Kind uint16

// The kinds of values.
const (
	Text Kind = 1 << iota
	Number
	Code // number with a zero-padded format
	Date
	Datetime
	Boolean
	Other   // anything else that is not text, such as errors and arrays
	Missing // no value, or a marker of one

	// KindOf does not return these kinds, and the layout of a table does not distinguish them from
	// Other. Cells of workbooks declare them.
	Time // time of day
	Duration
)

// maxTyped is the length of the longest value that KindOf does not take for text.
const maxTyped = 100

// KindOf returns what a value appears to be. A datetime, and anything else of at least three
// numbers, is a date. Only the words true and false are booleans: others, such as no, also name
// columns.
func KindOf(v []byte) Kind {
	v = text.TrimBlanks(v)
	_, pair := text.BooleanWord(v)
	switch {
	case len(v) == 0 || IsMissing(v) || isRule(v):
		return Missing
	case len(v) > maxTyped:
		return Text
	case pair == 1:
		return Boolean
	case isDayOrTime(v): // months also name columns
		return Date
	case isQuantity(v):
		return Number
	case isSeveralNumbers(v):
		return Date
	}
	return Text
}
