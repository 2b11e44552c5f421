package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Result returns the type and the notation of the field, whether it is searchable by default, and its report, which lacks the
// names of the field and the column, the fingerprint and what only a listing shows. name is that of its column, fileType the
// type that the file declares for it. The error has herb.CodeInvalid and names a value that does not fit the type that the
// descriptor declares.
func (f *Field) Result(name string, fileType herb.Type) (field herb.Field, report herb.ColumnReport, err error) {
	c, declared := f.column, f.declared.Type
	t, n, why := c.infer(name, fileType)
	origin := ""
	isEmpty := c.filled == c.missing // no value has a notation
	switch isFitting := len(f.misfits) == 0 && (!f.isAny || isEmpty); {
	case len(f.fractions) > 0:
		return field, report, herb.Invalidf("%s is not an integer, as declared; fix the value, declare it in missingValues, or change the type to number", f.fractions[0])
	case declared != "" && declared.IsScalar() && !isFitting && (t != declared || f.isFixed):
		return field, report, f.mismatch()
	case declared != "":
		origin = ", as declared"
		if t = declared; isFitting {
			n = f.notation()
		}
	case fileType != "" && t == fileType:
		origin = ", as declared by the file"
	}
	if t.IsScalar() {
		n.Missing = slices.Sorted(slices.Values(c.markers))
		if t != herb.TypeNumber || declared == "" && fileType != herb.TypeNumber {
			n.Missing = slices.DeleteFunc(n.Missing, isInfinity)
		}
	}
	return herb.Field{Type: t, Notation: n, Searchable: t == herb.TypeList || t == herb.TypeText && !c.isURLs()}, herb.ColumnReport{
		Type: t, Evidence: string(t) + origin + ": " + c.evidence(t, n, why, f.profiler.rows), Notes: c.notes(t),
		Filled: c.filled, Empty: f.profiler.rows - c.filled, Shortest: c.shortest, Longest: c.longest,
	}, nil
}

// notation returns the declared notation without the parts that no value needs.
func (f *Field) notation() herb.Notation {
	n := f.declared.Notation
	n.Padded = n.Padded && f.column.padded != ""
	if f.column.notBoolean == "" && !f.isFixed {
		n.True, n.False = nil, nil // all are standard words
	}
	return n
}

func (f *Field) mismatch() error {
	t := f.declared.Type
	if len(f.misfits) == 0 {
		return herb.Invalidf("its values are declared a %s, but have no single notation", t)
	}
	if f.isFixed {
		return herb.Invalidf("%s is not a %s in the declared notation; fix the value, declare it in missingValues, or change the declaration", f.misfits[0], t)
	}
	return herb.Invalidf("%s is not a %s, as declared; fix the value, declare it in missingValues, or change the type; a %s is written %s",
		f.misfits[0], t, t, text.Example(t))
}

func (c *column) isURLs() bool { return !c.notURL && c.filled > 0 }

// infer returns the type of the column and its notation. why says why it is text although its values resemble another type.
func (c *column) infer(name string, fileType herb.Type) (t herb.Type, n herb.Notation, why string) {
	if n, ok := c.fits(fileType); ok {
		return fileType, n, ""
	}
	isOpen := fileType != herb.TypeText // a file would have declared numbers and booleans
	switch {
	case c.filled == c.missing:
	case c.notNumber == "" && isOpen && !slices.ContainsFunc(c.markers, isInfinity):
		t = herb.TypeNumber
		n, why = c.numbers.notation()
	case c.notTime == "":
		t = herb.TypeDate
		if c.times.hasClock() {
			t = herb.TypeDateTime
		}
		n.Layout, why = c.times.layout()
	case c.notBoolean == "" && isOpen && c.booleans.hold():
		t = herb.TypeBoolean
	}
	switch {
	case why != "":
		return herb.TypeText, herb.Notation{}, why
	case t != "":
		return t, n, ""
	case !c.json && (isListName(name) || !c.isURLs() && c.list.hold()) && c.filled > 0:
		return herb.TypeList, n, ""
	default:
		return herb.TypeText, n, ""
	}
}

// fits reports whether the values fit the type that the file declares.
func (c *column) fits(fileType herb.Type) (n herb.Notation, ok bool) {
	switch fileType {
	case herb.TypeNumber:
		ok = c.notNumber == "" && c.numbers.isPlain()
	case herb.TypeDate:
		ok = c.notTime == "" && c.times.dates == c.filled-c.missing
	case herb.TypeDateTime:
		ok = c.notTime == "" && !c.times.notISO
	case herb.TypeBoolean:
		ok = c.notBoolean == ""
		if !ok && c.notNumber == "" && !c.numbers.notBit {
			n, ok = herb.Notation{True: []string{"1"}, False: []string{"0"}}, true
		}
	case herb.TypeList:
		ok = true
	}
	return n, ok
}

// evidence says why the column has its type.
func (c *column) evidence(t herb.Type, n herb.Notation, why string, rows int) string {
	if c.filled == 0 {
		return "no values"
	}
	parts := []string{c.reason(t, why), herb.Count(c.filled) + " of " + herb.Count(rows)}
	if empty := rows - c.filled; empty > 0 {
		parts = append(parts, herb.Count(empty)+" empty")
	}
	if t.IsScalar() && c.missing > 0 {
		missing := herb.Count(c.missing) + " missing"
		if len(n.Missing) > 0 {
			missing += " (" + strings.Join(n.Missing, ", ") + ")"
		}
		parts = append(parts, missing)
	}
	parts = append(parts, describe(n))
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// reason says why the column is a list or text; a value that rules out a type is mentioned if most values have that type.
func (c *column) reason(t herb.Type, why string) string {
	switch {
	case t == herb.TypeList && c.list.hold():
		return fmt.Sprintf("%s values with several elements, %s distinct elements", herb.Count(c.list.lists), herb.Count(len(c.list.distinct)))
	case t.IsScalar():
		return ""
	case why != "":
		return why
	case t == herb.TypeList:
		return ""
	case c.isURLs():
		return "all are URLs"
	case c.notNumber != "" && 2*max(c.numeric, c.numbers.count-1) >= c.filled:
		return c.notNumber + " is not a number"
	case c.notTime != "" && 2*max(c.dated, c.times.zoned+c.times.unzoned) >= c.filled:
		return c.notTime + " is not a date"
	}
	return ""
}

// describe describes a notation, or returns "" for the standard one.
func describe(n herb.Notation) string {
	var parts []string
	for _, p := range []struct{ format, value string }{
		{"thousands separated by %q", n.Group}, {"decimals after %q", n.Decimal}, {"with %s", n.Affix}, {"written %s", n.Layout},
	} {
		if p.value != "" {
			parts = append(parts, fmt.Sprintf(p.format, p.value))
		}
	}
	if len(n.True) > 0 {
		parts = append(parts, fmt.Sprintf("true is %s, false is %s", strings.Join(n.True, " or "), strings.Join(n.False, " or ")))
	}
	return strings.Join(parts, ", ")
}

func (c *column) notes(t herb.Type) []string {
	var notes []string
	if t == herb.TypeText && c.padded != "" {
		notes = append(notes, "numbers with leading zeros, such as "+c.padded+", are kept as text")
	}
	if c.blanks > 0 && !t.IsScalar() {
		notes = append(notes, herb.Count(c.blanks)+" values begin or end with white space, the first "+c.blank)
	}
	return notes
}

// Schema is what a Table Schema declares about the type of a field. Missing values are not part of it: their cells are empty.
type Schema struct {
	Type                    string // of Table Schema, of any edition; empty: not declared
	Format                  string // of dates and datetimes
	DecimalChar, GroupChar  string
	NotBare                 bool   // bareNumber is false: numbers have a currency or percent sign
	Delimiter               string // of lists
	TrueValues, FalseValues []string
}

// parse returns the declared type and notation. isAny means that the notation is inferred.
func (s Schema) parse() (t herb.Type, n herb.Notation, isAny bool, err error) {
	switch t = Type(s.Type); t {
	case herb.TypeNumber:
		isAny = s.NotBare
		n, err = s.number()
	case herb.TypeDate, herb.TypeDateTime:
		isAny = s.Format == "any"
		n.Layout, err = s.layout(t)
	case herb.TypeBoolean:
		n.True, n.False, err = s.words()
	case herb.TypeList:
		if s.Delimiter != "" && s.Delimiter != "," {
			err = herb.Invalidf("delimiter %q is not supported; elements of lists must be separated by a comma", clip(s.Delimiter))
		}
	}
	return t, n, isAny, err
}

// declaresNotation reports whether the schema says how values are written.
func (s Schema) declaresNotation() bool {
	return s.DecimalChar != "" || s.GroupChar != "" || s.Format != "" || len(s.TrueValues) > 0 || len(s.FalseValues) > 0
}

// isInteger reports whether the schema declares integers. 1.0 is one, as programs write it in columns with missing values.
func (s Schema) isInteger() bool {
	return slices.Contains([]string{"integer", "int"}, strings.ToLower(s.Type))
}

// words returns the words of a boolean. The default words are those of Table Schema, except those declared with the other value.
func (s Schema) words() (trueWords, falseWords []string, err error) {
	declared := func(other []string) func(string) bool {
		return func(word string) bool { return slices.Contains(other, word) }
	}
	if i := slices.IndexFunc(s.TrueValues, declared(s.FalseValues)); i >= 0 {
		return nil, nil, herb.Invalidf("trueValues and falseValues both contain %q; they must differ", clip(s.TrueValues[i]))
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

func (s Schema) number() (herb.Notation, error) {
	n := herb.Notation{Decimal: strings.TrimPrefix(s.DecimalChar, "."), Group: s.GroupChar, Padded: true}
	switch decimal := cmp.Or(s.DecimalChar, "."); {
	case decimal != "." && decimal != ",":
		return n, herb.Invalidf("decimalChar %q is not supported; use a point or a comma", clip(decimal))
	case n.Group == decimal:
		return n, herb.Invalidf("groupChar and decimalChar are both %q; they must differ", decimal)
	case slices.Contains([]string{"\u00a0", "\u202f", "\u2009"}, n.Group):
		n.Group = " "
	case !slices.Contains([]string{"", ",", ".", " ", "'", "_"}, n.Group):
		return n, herb.Invalidf("groupChar %q is not supported; use a comma, a point, a space, an apostrophe or an underscore", clip(n.Group))
	}
	return n, nil
}

// layout returns the layout of dates or datetimes: strptime directives, or letters such as YYYY-MM-DD.
func (s Schema) layout(t herb.Type) (string, error) {
	format := strings.TrimPrefix(s.Format, "fmt:")
	if !strings.Contains(format, "%") {
		minutes := "%M"
		if t == herb.TypeDate {
			minutes = "%m"
		}
		format = strings.NewReplacer("YYYY", "%Y", "yyyy", "%Y", "MM", "%m", "DD", "%d", "dd", "%d", "HH", "%H", "hh", "%H", "mm", minutes,
			"SS", "%S", "ss", "%S").Replace(format)
	}
	switch format {
	case "", "default", "any", "%Y-%m-%d", "%F", "%Y-%m-%dT%H:%M:%SZ":
		return "", nil
	}
	layout, err := text.ParseLayout(t, format)
	if err != nil {
		return "", herb.Invalidf("format %q is not supported for a %s; use strptime directives such as %%d/%%m/%%Y", clip(s.Format), t)
	}
	return layout, nil
}
