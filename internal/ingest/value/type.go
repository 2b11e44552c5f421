package value

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/roles"
	"herbarium/internal/text"
)

// Result returns the field with its type, its notation and whether it is searchable by default, and
// the report of its column. The caller adds names, the fingerprint and what a listing shows. name
// is the name of the column, fileType the type that the file declares for it. Result fails with
// herb.CodeInvalid if a value does not fit the type that the descriptor declares; the error names
// the value.
func (f *Field) Result(name string, fileType herb.Type) (field herb.Field, report herb.ColumnReport, err error) {
	c, declared := f.column, f.declared.Type
	t, n, why := c.infer(name, fileType, f.profiler.conventions())
	origin := ""
	isEmpty := c.filled == c.blank+c.missing // no value has a notation
	switch isFitting := len(f.misfits) == 0 && (!f.isAny || isEmpty); {
	case len(f.fractions) > 0:
		return field, report, herb.InvalidAdvice(f.fractions[0]+" is not an integer, as declared",
			"fix the value, declare it in missingValues, or change the type to number")
	case declared != "" && declared.IsScalar() && !isFitting &&
		(t != declared || f.isFixed || !f.isAny && c.candidate(t).other > 0):
		return field, report, f.mismatch()
	case declared != "":
		origin = "as declared"
		t = declared
		if isFitting {
			n = f.notation()
		}
	case fileType != "" && t == fileType:
		origin = "as declared by the file"
	}
	missing := f.missing(t, n, fileType)
	exceptions := c.exceptions(t, n, missing)
	for _, m := range slices.Concat(missing, exceptions) {
		n.Missing = append(n.Missing, m.value)
	}
	slices.Sort(n.Missing)
	n.JSON = t == herb.TypeList && c.writesJSON()
	field = herb.Field{Type: t, Notation: n, Searchable: t == herb.TypeList || t == herb.TypeText && !c.isURLs() ||
		t == herb.TypeNumber && c.isIdentifier(name)}
	reason, between := c.evidence(t, n, why, missing, exceptions, f.profiler.rows), ": "
	if origin != "" {
		reason, between = origin+": "+reason, ", "
	}
	report = herb.ColumnReport{
		Type: t, Evidence: string(t) + between + reason, Reason: reason, Notes: c.notes(t),
		Filled: c.filled, Empty: f.profiler.rows - c.filled, Shortest: c.shortest, Longest: c.longest,
	}
	if l := &c.lists; l.isWritten && !l.isJSON && l.longest > 0 {
		report.Shortest, report.Longest = l.shortest, l.longest
	}
	if t == herb.TypeNumber {
		report.Decimals = c.numbers.decimals(n)
	}
	if t == herb.TypeText {
		report.Lengths = c.lengths.report(c.shortest, c.longest)
		report.DateNotations = c.dates.notations(c.date.typed + c.date.other)
	}
	for _, e := range exceptions {
		report.Exceptions = append(report.Exceptions, herb.ValueCount{Value: e.value, Count: e.count})
	}
	return field, report, nil
}

// missing returns the values of the column that mean a missing value in a field of this type and
// notation.
func (f *Field) missing(t herb.Type, n herb.Notation, fileType herb.Type) (missing []namedValue) {
	if !t.IsScalar() {
		return nil
	}
	c, declared := f.column, f.declared.Type
	for _, s := range c.signs {
		if status := canonicalStatus(t, n, s.value); status == text.Invalid { // a declared word may look like a sign
			missing = append(missing, s)
		}
	}
	if t == herb.TypeNumber && (declared != "" || fileType == herb.TypeNumber) {
		missing = append(missing, c.infinities...)
	}
	return missing
}

// exceptions returns the values that are neither missing nor of the type of the column, the most
// frequent first.
func (c *column) exceptions(t herb.Type, n herb.Notation, missing []namedValue) (exceptions []namedValue) {
	if !t.IsScalar() {
		return nil
	}
	for _, w := range c.words.values {
		isMissing := slices.ContainsFunc(missing, func(m namedValue) bool { return m.value == w.value })
		if !isMissing && canonicalStatus(t, n, w.value) == text.Invalid {
			exceptions = append(exceptions, w)
		}
	}
	slices.SortStableFunc(exceptions, func(a, b namedValue) int { return cmp.Compare(b.count, a.count) })
	return exceptions
}

func canonicalStatus(t herb.Type, n herb.Notation, value string) text.Status {
	_, status := text.AppendPublished(nil, &herb.Field{Type: t, Notation: n}, []byte(value))
	return status
}

// notation returns the declared notation without members that no value needs.
func (f *Field) notation() herb.Notation {
	n := f.declared.Notation
	n.Padded = n.Padded && f.column.padded > 0
	if w := f.column.boolean; !w.closed && w.other == 0 && !f.isFixed {
		n.True, n.False = nil, nil // all are standard words
	}
	return n
}

func (f *Field) mismatch() error {
	const advice = "fix the value, declare it in missingValues, or change the "
	t := f.declared.Type
	if c := f.column.candidate(t); !f.isFixed && c.typed > 0 && len(c.named) > 0 { // values in any notation fit
		f.misfits = nil
		for _, o := range c.named {
			f.misfits = append(f.misfits, o.String())
		}
		return herb.InvalidAdvice(fmt.Sprintf("%s is not a %s, as declared", f.misfits[0], t), advice+"type")
	}
	if len(f.misfits) == 0 {
		return herb.Invalidf("its values are declared a %s, but have no single notation", t)
	}
	if f.isFixed {
		return herb.InvalidAdvice(fmt.Sprintf("%s is not a %s in the declared notation", f.misfits[0], t),
			advice+"declaration")
	}
	return herb.InvalidAdvice(fmt.Sprintf("%s is not a %s, as declared", f.misfits[0], t),
		fmt.Sprintf("%stype; a %s is written %s", advice, t, text.Example(&herb.Field{Type: t})))
}

// writesJSON reports whether lists of the column are written as JSON. It is not for columns of
// text.
func (c *column) writesJSON() bool {
	if c.lists.isWritten {
		return c.lists.isJSON && c.lists.arrays > 0
	}
	return c.lists.arrays > 0
}

func (c *column) isURLs() bool { return !c.notURL && c.filled > 0 }

// candidate returns the evidence for and against a scalar type.
func (c *column) candidate(t herb.Type) *candidate {
	switch t {
	case herb.TypeNumber:
		return &c.number
	case herb.TypeBoolean:
		return &c.boolean
	case herb.TypeTime, herb.TypeDuration:
		return &c.clock
	}
	return &c.date
}

// infer returns the type of the column and its notation. why says why it is text although its
// values resemble another type.
func (c *column) infer(name string, fileType herb.Type, shown *conventions) (t herb.Type, n herb.Notation, why string) {
	if n, ok := c.fits(fileType); ok {
		return fileType, n, ""
	}
	isOpen := fileType != herb.TypeText // a file would have declared numbers and booleans
	digits := c.digitDates.format(c.filled - c.blank - c.missing)
	switch {
	case digits != "" && roles.Of(name) == roles.Date:
		t, n.DateFormat = herb.TypeDate, digits
	case isOpen && c.isNumber():
		t = herb.TypeNumber
		n, why = c.numberNotation(name, fileType, shown)
	case c.date.holds() && !(c.dates.arePeriods() && roles.Of(name).IsCode()):
		t = herb.TypeDate
		if c.dates.hasClock() {
			t = herb.TypeDateTime
		}
		n.DateFormat, why = c.dates.format(shown)
	case c.clock.holds():
		t, n.DateFormat, why = c.clocks.result(name)
	case c.boolean.holds() && isOpen && c.booleans.hold():
		t = herb.TypeBoolean
	}
	switch {
	case why != "":
		return herb.TypeText, herb.Notation{}, why
	case t != "":
		return t, n, ""
	case c.isArrays() && c.lists.hasText, roles.Of(name) == roles.List && c.filled > 0 && !c.lists.json &&
		!c.lists.isNotComma:
		return herb.TypeList, n, ""
	default:
		return herb.TypeText, n, ""
	}
}

// isNumber reports whether the column has numbers if the file does not declare them. Infinities are
// exceptions then.
func (c *column) isNumber() bool {
	number := c.number
	for _, i := range c.infinities {
		number.other += i.count
	}
	return number.holds()
}

// numberNotation returns the notation of the numbers of the column. why says why they are text.
func (c *column) numberNotation(name string, fileType herb.Type, shown *conventions) (n herb.Notation, why string) {
	if fileType == "" && c.isCodes(name) {
		return n, "its name and its digits are those of codes, which are not calculated with; declare the type " +
			"number if they are quantities"
	}
	if isCoordinates(name) && c.numbers.isPlain() { // thousands would be outside of the globe
		return herb.Notation{Padded: c.numbers.padded}, ""
	}
	return c.numbers.notation(shown)
}

// fits reports whether the values fit the type that the file declares.
func (c *column) fits(fileType herb.Type) (n herb.Notation, ok bool) {
	holds := func(k *candidate) bool { return k.holds() || k.typed+k.other == 0 }
	switch fileType {
	case herb.TypeNumber:
		ok = holds(&c.number) && c.numbers.isPlain()
	case herb.TypeDate:
		ok = holds(&c.date) && !c.dates.notISO && !c.dates.hasClock()
	case herb.TypeDateTime:
		ok = holds(&c.date) && !c.dates.notISO
	case herb.TypeTime, herb.TypeDuration:
		ok = holds(&c.clock) && c.clocks.fits(fileType)
	case herb.TypeBoolean:
		ok = holds(&c.boolean)
		if !ok && c.number.holds() && !c.numbers.notBit {
			n, ok = herb.Notation{True: []string{"1"}, False: []string{"0"}}, true
		}
	case herb.TypeList:
		ok = true
	}
	return n, ok
}

// evidence says why the column has its type.
func (c *column) evidence(t herb.Type, n herb.Notation, why string, missing, exceptions []namedValue, rows int) string {
	if c.filled == 0 {
		return "no values"
	}
	parts := []string{c.reason(t, n, why), herb.Count(c.filled) + " of " + herb.Count(rows)}
	if empty := rows - c.filled; empty > 0 {
		parts = append(parts, herb.Count(empty)+" empty")
	}
	if t.IsScalar() {
		slices.SortStableFunc(missing, func(a, b namedValue) int { return cmp.Compare(b.count, a.count) })
		if c.blank > 0 {
			missing = append(missing, namedValue{value: "blank", count: c.blank})
		}
		parts = append(parts, describeValues(missing, "missing", "missing"),
			describeValues(exceptions, "exception", "exceptions"))
	}
	parts = append(parts, describe(n))
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// describeValues names values with their counts.
func describeValues(values []namedValue, one, many string) string {
	total, names := 0, make([]string, len(values))
	for i, v := range values {
		total += v.count
		names[i] = clip(v.value) + ": " + herb.Count(v.count)
	}
	if total == 0 {
		return ""
	}
	return herb.Plural(total, one, many) + " (" + strings.Join(names, ", ") + ")"
}

// reason says why the column is a list or text. It names values that rule out a type if most values
// have that type.
func (c *column) reason(t herb.Type, n herb.Notation, why string) string {
	values := c.number.typed + c.number.other + len(c.infinities)
	switch {
	case n.JSON:
		return "JSON arrays"
	case t != herb.TypeText, values == 0:
		return ""
	case why != "":
		return why
	case c.isURLs():
		return "all are URLs"
	case len(c.infinities) > 0 && c.number.isNear(c.padded):
		return c.infinities[0].String() + " is not a finite number"
	case c.number.isNear(c.padded):
		return c.number.reason("number")
	case c.date.isNear(0):
		return c.date.reason("date")
	case c.clocks.reason(values) != "":
		return c.clocks.reason(values)
	case c.clock.isNear(0):
		return c.clock.reason("time or duration")
	case c.boolean.isNear(0) && c.boolean.other == 0 && c.boolean.another == "":
		return "only one of two words for true and false occurs"
	case c.boolean.isNear(0) && c.booleans.hold(): // F and M are no booleans
		return c.boolean.reason("boolean")
	}
	return ""
}

// describe describes a notation, or returns "" for the standard one.
func describe(n herb.Notation) string {
	var parts []string
	for _, p := range []struct{ format, value string }{
		{"thousands separated by %q", n.Group}, {"decimals after %q", n.Decimal}, {"with %s", n.Affix},
		{"written %s", strings.ReplaceAll(n.DateFormat, text.DateFormatSeparator, " or ")},
	} {
		if p.value != "" {
			parts = append(parts, fmt.Sprintf(p.format, p.value))
		}
	}
	if len(n.True) > 0 {
		parts = append(parts, fmt.Sprintf("true is %s, false is %s", strings.Join(n.True, " or "),
			strings.Join(n.False, " or ")))
	}
	return strings.Join(parts, ", ")
}

func (c *column) notes(t herb.Type) []string {
	var notes []string
	if t == herb.TypeText && c.padded > 0 && c.number.isNear(c.padded) {
		notes = append(notes, "numbers with leading zeros, such as "+c.firstPadded+", are kept as text")
	}
	if t == herb.TypeText && c.flagged > 0 && c.number.typed > 0 && c.number.isNear(c.flagged) {
		notes = append(notes, herb.Count(c.flagged)+" values have letters that qualify them, the first "+c.firstFlagged+
			"; for numbers, move the letters to a column of their own")
	}
	if t == herb.TypeText && c.long > 0 && c.number.isNear(c.long) {
		notes = append(notes, fmt.Sprintf("numbers of more than %s digits, such as %s, are kept as text",
			herb.Count(text.MaxDigits), c.firstLong))
	}
	if c.spaced > 0 && !t.IsScalar() {
		notes = append(notes, herb.Count(c.spaced)+" values begin or end with white space, the first "+c.firstSpaced)
	}
	return notes
}
