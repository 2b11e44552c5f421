package profile

import (
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Result is the type of a field and what its values show.
type Result struct {
	Type       herb.Type
	Notation   herb.Notation
	Searchable bool
	// Report has everything but the names of the field and the column, the fingerprint and what only a listing shows.
	Report herb.ColumnReport
}

// Result returns the type of the field. name is that of its column, fileType the type that the file declares for it. The
// error has herb.CodeInvalid and names a value that does not fit the type that the descriptor declares.
func (f *Field) Result(name string, fileType herb.Type) (Result, error) {
	c := f.column
	t, n, why := c.infer(name, fileType)
	origin := ""
	if f.declared != "" {
		origin = ", as declared"
		switch {
		case f.declared.IsScalar() && f.misfit == nil && !f.any:
			n = f.notation()
		case f.declared.IsScalar() && t != f.declared:
			return Result{}, f.mismatch()
		}
		t = f.declared
	} else if fileType != "" && t == fileType {
		origin = ", as declared by the file"
	}
	if t.IsScalar() {
		n.Missing = c.missingMarkers(t, f.declared != "" || fileType == herb.TypeNumber)
	}
	r := Result{Type: t, Notation: n, Searchable: t == herb.TypeList || t == herb.TypeText && !c.isURLs()}
	r.Report = herb.ColumnReport{
		Type: t, Evidence: string(t) + origin + ": " + c.evidence(t, n, why, f.survey.rows), Notes: c.notes(t),
		Filled: c.filled, Empty: f.survey.rows - c.filled, Shortest: c.shortest, Longest: c.longest,
	}
	return r, nil
}

// notation returns the declared notation without the parts that no value needs.
func (f *Field) notation() herb.Notation {
	n := f.field.Notation
	n.Padded = n.Padded && f.column.kinds[kindPadded] > 0
	if f.declared == herb.TypeBoolean && f.column.open&famBoolean != 0 {
		n.True, n.False = nil, nil // all are standard words
	}
	return n
}

func (f *Field) mismatch() error {
	if f.misfit == nil {
		return herb.Invalidf("its values are declared a %s, but have no single notation", f.declared)
	}
	return herb.Invalidf("%q (%s) is not a %s, as declared; fix the value, declare it in missingValues, or change the type; a %s is written %s",
		f.misfit.value, f.misfit.where, f.declared, f.declared, text.Example(f.declared))
}

func (c *column) isURLs() bool { return c.urls && c.filled > 0 }

// missingMarkers returns the markers of missing values that occur.
func (c *column) missingMarkers(t herb.Type, declared bool) []string {
	var names []string
	for name, infinity := range c.markers {
		if !infinity || declared && t == herb.TypeNumber {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// infer returns the type of the column and its notation. why is the reason why it is text although its values resemble
// another type.
func (c *column) infer(name string, fileType herb.Type) (t herb.Type, n herb.Notation, why string) {
	values := c.filled - c.missing
	if t, n, ok := c.inferDeclared(fileType, values); ok {
		return t, n, ""
	}
	switch {
	case values == 0:
	case c.open&famNumber != 0 && fileType != herb.TypeText && !c.infinite:
		if n, why = c.numbers.notation(); why == "" {
			return herb.TypeNumber, n, ""
		}
	case c.open&famTime != 0:
		layout, clock, reason := c.times.layout()
		if why = reason; why == "" && clock {
			return herb.TypeDateTime, herb.Notation{}, ""
		} else if why == "" {
			return herb.TypeDate, herb.Notation{Layout: layout}, ""
		}
	case c.open&famBoolean != 0 && fileType != herb.TypeText && c.booleans.hold():
		return herb.TypeBoolean, herb.Notation{}, ""
	}
	if !c.json && (isListName(name) || !c.isURLs() && c.list.hold()) && c.filled > 0 && why == "" {
		return herb.TypeList, herb.Notation{}, ""
	}
	return herb.TypeText, herb.Notation{}, why
}

// inferDeclared returns the type that the file declares if the values fit it.
func (c *column) inferDeclared(fileType herb.Type, values int) (t herb.Type, n herb.Notation, ok bool) {
	switch fileType {
	case herb.TypeNumber:
		ok = c.open&famNumber != 0 && c.numbers.styles&stylePlain != 0 && c.numbers.affixed == 0
	case herb.TypeDate:
		ok = c.open&famTime != 0 && c.times.dates == values
	case herb.TypeDateTime:
		ok = c.open&famTime != 0 && !c.times.notISO
	case herb.TypeBoolean:
		ok = c.open&famBoolean != 0
		if !ok && c.open&famNumber != 0 && !c.numbers.notBit {
			n, ok = herb.Notation{True: []string{"1"}, False: []string{"0"}}, true
		}
	case herb.TypeList:
		ok = true
	}
	return fileType, n, ok
}

// evidence says why the column has its type.
func (c *column) evidence(t herb.Type, n herb.Notation, why string, rows int) string {
	count := herb.Count(c.filled) + " of " + herb.Count(rows)
	if empty := rows - c.filled; empty > 0 {
		count += "; " + herb.Count(empty) + " empty"
	}
	switch {
	case c.filled == 0:
		return "no values"
	case t.IsScalar():
		if c.missing > 0 {
			count += "; " + herb.Count(c.missing) + " missing"
			if len(n.Missing) > 0 {
				count += " (" + strings.Join(n.Missing, ", ") + ")"
			}
		}
		if d := describe(n); d != "" {
			count += "; " + d
		}
		return count
	case t == herb.TypeList && c.list.hold():
		return fmt.Sprintf("%s values with several elements, %s distinct elements; %s", herb.Count(c.list.lists), herb.Count(len(c.list.distinct)), count)
	case why != "":
		return why + "; " + count
	case t == herb.TypeText && c.isURLs():
		return "all are URLs; " + count
	case t == herb.TypeText:
		if misfit := c.misfit(); misfit != "" {
			return misfit + "; " + count
		}
	}
	return count
}

// misfit describes the first value that rules out the type of most values.
func (c *column) misfit() string {
	numeric := max(c.kinds[kindInteger]+c.kinds[kindDecimal]+c.kinds[kindPadded]+c.kinds[kindExponent], c.numbers.count-1)
	first, name := c.ruledOut[famNumber], "number"
	if first == nil || 2*numeric < c.filled {
		first, name = c.ruledOut[famTime], "date"
		if first == nil || 2*max(c.kinds[kindDate], c.times.zoned+c.times.unzoned) < c.filled {
			return ""
		}
	}
	return fmt.Sprintf("%q (%s) is not a %s", first.value, first.where, name)
}

// describe describes a notation, or returns "" for the standard one.
func describe(n herb.Notation) string {
	var parts []string
	add := func(format string, values ...any) { parts = append(parts, fmt.Sprintf(format, values...)) }
	if n.Group != "" {
		add("thousands separated by %q", n.Group)
	}
	if n.Decimal != "" {
		add("decimals after %q", n.Decimal)
	}
	if n.Affix != "" {
		add("with %s", n.Affix)
	}
	if n.Layout != "" {
		add("written %s", n.Layout)
	}
	if len(n.True) > 0 {
		add("true is %s, false is %s", strings.Join(n.True, " or "), strings.Join(n.False, " or "))
	}
	return strings.Join(parts, ", ")
}

// notes returns remarks for the publisher.
func (c *column) notes(t herb.Type) []string {
	var notes []string
	if t == herb.TypeText && c.padded != nil && c.ruledOut[famNumber] != nil {
		notes = append(notes, fmt.Sprintf("numbers with leading zeros, such as %q (%s), are kept as text", c.padded.value, c.padded.where))
	}
	if c.blanks > 0 && !t.IsScalar() {
		notes = append(notes, fmt.Sprintf("%s values begin or end with white space, the first %q (%s)", herb.Count(c.blanks), c.blank.value, c.blank.where))
	}
	return notes
}
