package value

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Schema is what a Table Schema declares about the type of a field. Missing values are not part of
// it: their cells are empty.
type Schema struct {
	Type                    string // of Table Schema, of any edition; empty: not declared
	Format                  string // of dates, datetimes, times and durations
	DecimalChar, GroupChar  string
	NotBare                 bool   // bareNumber is false: numbers have a currency or percent sign
	Delimiter               string // of lists
	TrueValues, FalseValues []string
}

// parse returns the declared type and notation. isAny means that the notation is inferred.
func (s Schema) parse() (t herb.Type, n herb.Notation, isAny bool, err error) {
	switch t = TypeOf(s.Type); t {
	case herb.TypeNumber:
		isAny = s.NotBare
		n, err = s.number()
	case herb.TypeDate, herb.TypeDateTime:
		isAny = s.Format == "any"
		n.DateFormat, err = s.dateFormat(t)
	case herb.TypeTime, herb.TypeDuration: // the standard notation includes any other that is inferred
		n.DateFormat, err = s.dateFormat(t)
	case herb.TypeBoolean:
		n.True, n.False, err = s.words()
	case herb.TypeList:
		if s.Delimiter != "" && s.Delimiter != "," {
			err = herb.InvalidAdvice(fmt.Sprintf("delimiter %q is not supported", clip(s.Delimiter)),
				"elements of lists must be separated by a comma")
		}
	}
	return t, n, isAny, err
}

// declaresNotation reports whether the schema says how values are written.
func (s Schema) declaresNotation() bool {
	return s.DecimalChar != "" || s.GroupChar != "" || s.Format != "" || len(s.TrueValues) > 0 || len(s.FalseValues) > 0
}

// isInteger reports whether the schema declares integers. 1.0 is one, as programs write it in
// columns with missing values.
func (s Schema) isInteger() bool {
	return slices.Contains([]string{"integer", "int"}, strings.ToLower(s.Type))
}

// words returns the words of a boolean. The default words are those of Table Schema, except those
// declared with the other value.
func (s Schema) words() (trueWords, falseWords []string, err error) {
	declared := func(other []string) func(string) bool {
		return func(word string) bool { return slices.Contains(other, word) }
	}
	if i := slices.IndexFunc(s.TrueValues, declared(s.FalseValues)); i >= 0 {
		return nil, nil, herb.InvalidAdvice(fmt.Sprintf("trueValues and falseValues both contain %q",
			clip(s.TrueValues[i])), "they must differ")
	}
	trueWords, falseWords = s.TrueValues, s.FalseValues
	if len(trueWords) == 0 {
		trueWords = slices.DeleteFunc([]string{"true", "True", "TRUE", "1"}, declared(falseWords))
	}
	if len(falseWords) == 0 {
		falseWords = slices.DeleteFunc([]string{"false", "False", "FALSE", "0"}, declared(trueWords))
	}
	return trueWords, falseWords, nil
}

// TypeOf maps a type of Table Schema, of any edition, to a type of fields. It is empty if the type
// is to be inferred.
func TypeOf(written string) herb.Type {
	switch strings.ToLower(written) {
	case "", "any":
		return ""
	case "integer", "number", "year", "int", "float", "double", "decimal", "numeric":
		return herb.TypeNumber
	case "date", "yearmonth":
		return herb.TypeDate
	case "datetime", "timestamp":
		return herb.TypeDateTime
	case "time":
		return herb.TypeTime
	case "duration":
		return herb.TypeDuration
	case "boolean", "bool":
		return herb.TypeBoolean
	case "list", "array":
		return herb.TypeList
	default:
		return herb.TypeText
	}
}

func (s Schema) number() (herb.Notation, error) {
	n := herb.Notation{Decimal: strings.TrimPrefix(s.DecimalChar, "."), Group: s.GroupChar, Padded: true}
	switch decimal := cmp.Or(s.DecimalChar, "."); {
	case decimal != "." && decimal != ",":
		return n, herb.InvalidAdvice(fmt.Sprintf("decimalChar %q is not supported", clip(decimal)),
			"use a point or a comma")
	case n.Group == decimal:
		return n, herb.InvalidAdvice(fmt.Sprintf("groupChar and decimalChar are both %q", decimal), "they must differ")
	case slices.Contains([]string{"\u00a0", "\u202f", "\u2009"}, n.Group):
		n.Group = " "
	case !slices.Contains([]string{"", ",", ".", " ", "'", "_"}, n.Group):
		return n, herb.InvalidAdvice(fmt.Sprintf("groupChar %q is not supported", clip(n.Group)),
			"use a comma, a point, a space, an apostrophe or an underscore")
	}
	return n, nil
}

// dateFormat returns the format of dates, datetimes, times or durations: strptime directives, or
// letters such as YYYY-MM-DD.
func (s Schema) dateFormat(t herb.Type) (string, error) {
	format := strings.TrimPrefix(s.Format, "fmt:")
	if !strings.Contains(format, "%") {
		minutes := "%M"
		if t == herb.TypeDate {
			minutes = "%m"
		}
		format = strings.NewReplacer("YYYY", "%Y", "yyyy", "%Y", "MM", "%m", "DD", "%d", "dd", "%d", "HH", "%H", "hh",
			"%H", "mm", minutes,
			"SS", "%S", "ss", "%S").Replace(format)
	}
	switch isDefault := format == "" || format == "default" || format == "any"; {
	case isDefault && strings.EqualFold(s.Type, "yearmonth"):
		return text.PrecisionMonth.Format(), nil
	case isDefault:
		return "", nil
	}
	switch format {
	case "%Y-%m-%d", "%F", "%Y-%m-%dT%H:%M:%SZ":
		return "", nil
	}
	parsed, err := text.ParseDateFormat(t, format)
	if err != nil {
		example := map[herb.Type]string{herb.TypeTime: "%H:%M:%S", herb.TypeDuration: text.MinutesSeconds}[t]
		return "", herb.InvalidAdvice(fmt.Sprintf("format %q is not supported for a %s", clip(s.Format), t),
			"use strptime directives such as "+cmp.Or(example, "%d/%m/%Y"))
	}
	return parsed, nil
}
