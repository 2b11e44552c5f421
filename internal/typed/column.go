package typed

import (
	"fmt"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Kind is a type of values in other programs.
type Kind string

// Kinds.
const (
	Text      Kind = "text"
	Int64     Kind = "int64"
	Decimal   Kind = "decimal" // with Column.Precision and Column.Scale
	Double    Kind = "double"
	Date      Kind = "date"
	Timestamp Kind = "timestamp" // a date and a time of day, without a zone unless Column.Zoned
	Time      Kind = "time"
	Boolean   Kind = "boolean"
	List      Kind = "list" // of texts
)

// MaxPrecision is the maximum number of digits of a decimal.
const MaxPrecision = 38

// Column is how other programs read the values of a field.
type Column struct {
	Kind      Kind
	Precision int  // of Decimal: the number of digits
	Scale     int  // of Decimal: the number of digits after the point
	Zoned     bool // of Timestamp: values are instants
	Nanos     bool // of Timestamp and Time: values have more than six digits after the point of the seconds
	// Reason says why values of another type than text stay text. It names no value.
	Reason string
}

// String returns the type as descriptions show it, such as decimal(10,2) or list(text).
func (c Column) String() string {
	switch {
	case c.Kind == Decimal:
		return fmt.Sprintf("decimal(%d,%d)", c.Precision, c.Scale)
	case c.Kind == Timestamp && c.Zoned:
		return "timestamp with time zone"
	case c.Kind == List:
		return "list(text)"
	}
	return string(c.Kind)
}

// IsTyped reports whether the values have the type of the field.
func (c Column) IsTyped() bool { return c.Reason == "" }

// IsNumber reports whether the values are numbers.
func (c Column) IsNumber() bool { return c.Kind == Int64 || c.Kind == Decimal || c.Kind == Double }

// Texts returns the columns of n fields without types: every value is its text as written.
func Texts(n int) []Column {
	columns := make([]Column, n)
	for i := range columns {
		columns[i].Kind = Text
	}
	return columns
}

// Of returns how other programs read the values of a field, given the facts of its column.
func Of(field *herb.Field, facts Facts) Column {
	if facts.Flags&Invalid != 0 {
		return untyped("some values are not valid for the type %s", field.Type)
	}
	switch field.Type {
	case herb.TypeNumber, herb.TypeDuration:
		return number(facts)
	case herb.TypeDate:
		if precision := text.PrecisionOf(field); precision != text.PrecisionDay {
			return untyped("the dates are %ss, which other programs do not have", precision)
		}
		return Column{Kind: Date}
	case herb.TypeDateTime:
		return timestamp(facts)
	case herb.TypeTime:
		return timeOfDay(facts)
	case herb.TypeBoolean:
		return Column{Kind: Boolean}
	case herb.TypeList:
		return Column{Kind: List}
	}
	return Column{Kind: Text}
}

func untyped(reason string, args ...any) Column {
	return Column{Kind: Text, Reason: fmt.Sprintf(reason, args...)}
}

// microDigits is the number of digits after the point of the seconds that every program reads;
// nanoDigits is how many some read.
const (
	microDigits = 6
	nanoDigits  = 9
)

func number(f Facts) Column {
	if f.Decimals == 0 && f.Flags&BeyondInt64 == 0 {
		return Column{Kind: Int64}
	}
	scale := f.Decimals
	if int(f.Whole)+int(scale) > MaxPrecision {
		scale = f.Fraction
	}
	precision := int(f.Whole) + int(scale)
	switch {
	case precision <= MaxPrecision:
		return Column{Kind: Decimal, Precision: max(precision, 1), Scale: int(scale)}
	case f.Flags&BeyondFloat == 0:
		return Column{Kind: Double}
	}
	return untyped("the numbers have %d digits before and %d after the decimal point, more than the %d of a decimal, "+
		"and some have more digits than a double",
		f.Whole, f.Fraction, MaxPrecision)
}

func timestamp(f Facts) Column {
	c := Column{Kind: Timestamp, Zoned: f.Flags&WithZone != 0, Nanos: f.Fraction > microDigits}
	switch {
	case c.Zoned && f.Flags&WithoutZone != 0:
		return untyped("some datetimes have a zone and some have none")
	case c.Nanos && f.Flags&BeyondNanos != 0:
		return untyped("the datetimes have nanoseconds, and some are before 1678 or after 2261")
	}
	return c
}

func timeOfDay(f Facts) Column {
	switch {
	case f.Flags&NoTime != 0:
		return untyped("some times are 24:00 or a leap second, which other programs do not have")
	case f.Fraction > nanoDigits:
		return untyped("the seconds have %d digits after the decimal point, more than nanoseconds", f.Fraction)
	}
	return Column{Kind: Time, Nanos: f.Fraction > microDigits}
}
