package table

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// Explain adds the layout that is used and, if it was detected, the best other one to an
// explanation. unit is what the format calls a row. base has what both have in common; its note
// says how to set the header if flags cannot.
func Explain(e *rows.Explanation, s Sample, used Header, unit string, base rows.ScoredReading) {
	first := base
	first.Text, first.Used, first.Note = base.Text+describeHeader(s, used, unit), true, ""
	first.Terms = slices.Concat(base.Terms, used.Terms)
	e.Add(first)
	if len(used.Terms) == 0 { // it was given
		return
	}
	isUsed := func(l Header) bool { return l.First == used.First && l.End == used.End }
	others := slices.DeleteFunc(candidates(s), isUsed)
	if len(others) == 0 {
		return
	}
	other := slices.MaxFunc(others, func(a, b Header) int { return cmp.Compare(a.Score, b.Score) })
	second := base
	second.Text, second.Terms = base.Text+describeHeader(s, other, unit), slices.Concat(base.Terms, other.Terms)
	if second.Note == "" {
		second.Settings, second.Note = headerSettings(s, other)
	}
	e.Add(second)
}

// describeHeader says which rows name the columns.
func describeHeader(s Sample, l Header, unit string) string {
	switch n := l.End - l.First; {
	case n == 0 && l.First > 0:
		return fmt.Sprintf("no %s names the columns, records from %s %d", unit, unit, s.Rows[l.First].Line)
	case n == 0 || len(s.Rows) < l.End:
		return fmt.Sprintf("no %s names the columns", unit)
	case n == 1:
		return fmt.Sprintf("%s %d names the columns", unit, s.Rows[l.First].Line)
	}
	return fmt.Sprintf("%ss %d to %d name the columns", unit, s.Rows[l.First].Line, s.Rows[l.End-1].Line)
}

// headerSettings returns the settings that select a header, or a note if only a descriptor can.
func headerSettings(s Sample, l Header) (settings herb.Reading, note string) {
	switch n := l.End - l.First; {
	case n == 0:
		if settings.Header = "none"; l.First > 0 {
			settings.Skip = strconv.Itoa(s.Rows[l.First].Line - 1)
		}
	case n == 1:
		settings.Header = strconv.Itoa(s.Rows[l.First].Line)
	default:
		note = fmt.Sprintf("headerRows %d to %d in a descriptor", s.Rows[l.First].Line, s.Rows[l.End-1].Line)
	}
	return settings, note
}

// ExplainFootnotes adds the evidence for the footnotes of the body to the reading that is used, and
// adds the reading in which they are records. header is the line that names the columns; 0: several
// lines do.
func (b *Body) ExplainFootnotes(e *rows.Explanation, header int) {
	if len(b.terms) == 0 || len(e.Readings) == 0 {
		return
	}
	used := e.Readings[0]
	kept := used
	kept.Used, kept.Text = false, used.Text+", footnotes are records"
	kept.Terms = append(slices.Clone(used.Terms), rows.Term{Decision: rows.DecisionFootnotes, Name: "last rows are records", Value: minPoints})
	if header > 0 {
		kept.Settings.Header = strconv.Itoa(header)
	} else {
		kept.Note = "headerRows in a descriptor"
	}
	used.Terms = append(slices.Clone(used.Terms), b.terms...)
	used.Text += fmt.Sprintf(", footnotes from %s %d", b.report.Unit, b.notes[0].Line)
	e.Readings = e.Readings[1:]
	e.Add(kept)
	e.Add(used)
}
