package ingest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// newReport tells what was understood of a file. What only the finished version knows, its distinct values and the hash
// of its cells, is for the publisher to add.
func newReport(src Source, s *survey, e exposure) *herb.Report {
	r := &herb.Report{
		Columns: make([]herb.ColumnReport, len(e.fields)),
		Notes:   slices.Clone(e.warnings),
	}
	for i, f := range e.fields {
		c := column{field: f, records: s.records, profile: newProfile(), name: f.Name}
		if k := slices.IndexFunc(src.Fields, func(s FieldSetting) bool { return s.Name == f.Name }); k >= 0 {
			c.name, c.configured = src.Fields[k].From, src.Fields[k].Type
		}
		at := e.pick[i]
		if at < len(s.columns) {
			c.name, c.profile = s.columns[at], s.profiles[at]
		}
		if r.Columns[i] = c.report(); at < len(s.columns) {
			r.Columns[i].Source = s.cells[at]
		}
	}
	exposed := make([]bool, len(s.columns))
	for _, at := range e.pick {
		if at < len(s.columns) {
			exposed[at] = true
		}
	}
	for i, name := range s.columns {
		if !exposed[i] {
			r.Hidden = append(r.Hidden, name)
		}
	}
	return r
}

// describeFormat describes how a file is written.
func describeFormat(name string, o rows.Options) string {
	if o.Delimiter != 0 {
		separator := strconv.Quote(string(rune(o.Delimiter)))
		switch o.Delimiter {
		case ',':
			separator = "comma"
		case ';':
			separator = "semicolon"
		case '\t':
			separator = "tab"
		}
		name = "csv, " + separator + " between values"
	}
	if o.Encoding != "" {
		name += ", " + o.Encoding
	}
	return name
}

// column is a field and what its column was seen to hold.
type column struct {
	*profile
	field      herb.Field
	name       string    // of the column
	configured herb.Type // empty: the type was inferred
	records    int
}

func (c column) report() herb.ColumnReport {
	return herb.ColumnReport{
		Field:    c.field.Name,
		Column:   c.name,
		Type:     c.field.Type,
		Evidence: c.evidence(),
		Filled:   c.filled,
		Empty:    c.records - c.filled,
		Shortest: c.shortest,
		Longest:  c.longest,
		Notes:    c.notes(),
	}
}

// evidence says why a column has its type.
func (c column) evidence() string {
	count := herb.Count(c.filled) + " of " + herb.Count(c.records)
	if empty := c.records - c.filled; empty > 0 {
		count += "; " + herb.Count(empty) + " empty"
	}
	typ := string(c.field.Type)
	switch {
	case c.configured != "" && c.configured != c.field.Type:
		return fmt.Sprintf("%s, although configured as %s: %s", typ, c.configured, c.misfits(c.configured))
	case c.configured != "":
		return fmt.Sprintf("%s, as configured: %s", typ, count)
	case c.filled == 0:
		return typ + ": there are no values"
	case c.field.Type == herb.TypeList:
		return fmt.Sprintf("%s: %s; %s", typ, c.listEvidence(), count)
	case c.field.Type != herb.TypeText:
		return typ + ": " + count
	case c.address:
		return typ + ": all are addresses; " + count
	case 2*c.numeric() >= c.filled:
		return typ + ": " + c.misfits(herb.TypeNumber)
	case 2*c.datelike() >= c.filled:
		return typ + ": " + c.misfits(herb.TypeDate)
	default:
		return typ + ": " + count
	}
}

// numeric counts what people may take for numbers, datelike what they may take for dates.
func (p *profile) numeric() int {
	return p.kinds[kindNumber] + p.kinds[kindPadded] + p.kinds[kindExponent]
}

func (p *profile) datelike() int { return p.kinds[kindDate] + p.kinds[kindDated] }

// misfits says how many values keep a column from having a type.
func (c column) misfits(t herb.Type) string {
	k, first, plural := kindNumber, c.notNumber, "numbers"
	if t == herb.TypeDate {
		k, first, plural = kindDate, c.notDate, "dates"
	}
	n := c.filled - c.kinds[k]
	verb := "are"
	if n == 1 {
		verb = "is"
		plural = "a " + strings.TrimSuffix(plural, "s")
	}
	return fmt.Sprintf("%s of %s %s not %s, the first %q in %s", herb.Count(n), herb.Count(c.filled), verb, plural,
		first.value, first.where)
}

func (c column) listEvidence() string {
	if isListName(c.name) {
		return fmt.Sprintf("columns called %q hold lists", c.name)
	}
	return fmt.Sprintf("%s values have several elements, %s different ones", herb.Count(c.list.lists),
		herb.Count(len(c.list.distinct)))
}

// notes are what a publisher should know of a column.
func (c column) notes() []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if c.field.Type == herb.TypeText && 2*c.numeric() >= c.filled {
		if n := c.kinds[kindPadded]; n > 0 {
			add("zero-padded codes such as %q are kept as text (%s)", c.padded.value, values(n))
		}
		if n := c.kinds[kindExponent]; n > 0 {
			add("numbers with an exponent such as %q are kept as text (%s)", c.exponent.value, values(n))
		}
	}
	if n := c.kinds[kindDated]; n > 0 && 2*c.datelike() >= c.filled {
		add("dates such as %q are kept as text (%s): %s", c.dated.value, values(n), c.notation())
	}
	if c.isMixed() {
		add("types are mixed: %s numbers, %s dates, %s others", herb.Count(c.kinds[kindNumber]),
			herb.Count(c.kinds[kindDate]), herb.Count(c.filled-c.kinds[kindNumber]-c.kinds[kindDate]))
	}
	if c.blanks > 0 {
		add("%s with a blank at the beginning or end, the first %q in %s; they are kept as they are",
			values(c.blanks), c.blank.value, c.blank.where)
	}
	return notes
}

// isMixed reports whether most of a text column would be of another type, if only it were of one.
func (c column) isMixed() bool {
	n, d := c.kinds[kindNumber], c.kinds[kindDate]
	return c.field.Type == herb.TypeText && n > 0 && d > 0 && 2*(n+d) >= c.filled
}

// notation says how the dates are written that are not written as ours are.
func (p *profile) notation() string {
	n := p.notations
	const right = "; write them as 2024-02-29 to have them compared as dates"
	switch {
	case n[dayFirst] > 0 && n[monthFirst] > 0:
		return "some can only be day/month/year, others only month/day/year" + right
	case n[dayFirst] > 0:
		return "they can only be day/month/year" + right
	case n[monthFirst] > 0:
		return "they can only be month/day/year" + right
	case n[eitherFirst] > 0:
		return "they are ambiguous, day/month/year or month/day/year" + right
	case n[yearFirst] > 0:
		return "they are year/month/day" + right
	default:
		return "they have a time; text like this sorts by time all the same"
	}
}

func values(n int) string {
	if n == 1 {
		return "1 value"
	}
	return herb.Count(n) + " values"
}
