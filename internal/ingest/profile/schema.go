package profile

import (
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Schema is what a Table Schema declares about the type of a field. Missing values are not part of it: the caller passes
// them as empty cells.
type Schema struct {
	Type                    string // of Table Schema, of any edition; empty: not declared
	Format                  string // of dates and datetimes
	DecimalChar, GroupChar  string
	NotBare                 bool   // bareNumber is false: numbers have a currency or percent sign
	Delimiter               string // of lists
	TrueValues, FalseValues []string
}

// parse returns the declared type and notation. any means that the notation is inferred.
func (s Schema) parse() (t herb.Type, n herb.Notation, any bool, err error) {
	switch t = Type(s.Type); t {
	case herb.TypeNumber:
		n, err = s.number()
		any = s.NotBare
	case herb.TypeDate, herb.TypeDateTime:
		any = s.Format == "any"
		n.Layout, err = s.layout(t)
	case herb.TypeBoolean:
		n = s.boolean()
	case herb.TypeList:
		if s.Delimiter != "" && s.Delimiter != "," {
			err = herb.Invalidf("delimiter %q is not supported; elements of lists must be separated by a comma", clip(s.Delimiter))
		}
	}
	return t, n, any, err
}

// Type maps a type of Table Schema, of any edition, to a type of fields. It is empty if the type is to be inferred.
func Type(written string) herb.Type {
	switch strings.ToLower(written) {
	case "", "any":
		return ""
	case "integer", "number", "year", "int", "float", "double", "decimal", "numeric":
		return herb.TypeNumber
	case "date":
		return herb.TypeDate
	case "datetime", "timestamp":
		return herb.TypeDateTime
	case "boolean", "bool":
		return herb.TypeBoolean
	case "list", "array":
		return herb.TypeList
	default:
		return herb.TypeText
	}
}

func (s Schema) number() (n herb.Notation, err error) {
	decimal := s.DecimalChar
	switch decimal {
	case "", ".":
		decimal = "."
	case ",":
		n.Decimal = decimal
	default:
		return n, herb.Invalidf("decimalChar %q is not supported; use a point or a comma", clip(decimal))
	}
	switch s.GroupChar {
	case decimal:
		return n, herb.Invalidf("groupChar and decimalChar are both %q; they must differ", decimal)
	case "", ",", ".", " ", "'", "_":
		n.Group = s.GroupChar
	case "\u00a0", "\u202f", "\u2009":
		n.Group = " "
	default:
		return n, herb.Invalidf("groupChar %q is not supported; use a comma, a point, a space, an apostrophe or an underscore", clip(s.GroupChar))
	}
	n.Padded = true // until no value is
	return n, nil
}

// layout returns the layout of dates or datetimes: strptime directives, or letters such as YYYY-MM-DD.
func (s Schema) layout(t herb.Type) (string, error) {
	format := strings.TrimPrefix(s.Format, "fmt:")
	switch format {
	case "", "default", "any", "%Y-%m-%d", "%F", "%Y-%m-%dT%H:%M:%SZ":
		return "", nil
	}
	if !strings.Contains(format, "%") {
		minutes := "%M"
		if t == herb.TypeDate {
			minutes = "%m"
		}
		format = strings.NewReplacer("YYYY", "%Y", "yyyy", "%Y", "MM", "%m", "DD", "%d", "dd", "%d", "HH", "%H", "hh", "%H", "mm", minutes,
			"SS", "%S", "ss", "%S").Replace(format)
		if format == "%Y-%m-%d" {
			return "", nil
		}
	}
	layout, err := text.ParseLayout(t, format)
	if err != nil {
		return "", herb.Invalidf("format %q is not supported for a %s; use strptime directives such as %%d/%%m/%%Y", clip(s.Format), t)
	}
	return layout, nil
}

// boolean returns the notation with the declared words, or else with those that Table Schema defines.
func (s Schema) boolean() (n herb.Notation) {
	n.True, n.False = s.TrueValues, s.FalseValues
	if len(n.True) == 0 {
		n.True = []string{"true", "True", "TRUE", "1"}
	}
	if len(n.False) == 0 {
		n.False = []string{"false", "False", "FALSE", "0"}
	}
	return n
}
