package table

import (
	"fmt"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// Explain adds the header that is used and, if it was detected, the others to an explanation. unit
// is what the format calls a row, note says how to set the header if flags cannot; empty: they can.
func Explain(e *rows.Explanation, s Sample, used Header, unit, note string) {
	list := []rows.Candidate{{Text: describeHeader(s, used, unit), Used: true, Evidence: used.Terms}}
	if len(used.Terms) > 0 { // it was not given
		for _, other := range candidates(s) {
			if other.First == used.First && other.End == used.End {
				continue
			}
			c := rows.Candidate{Text: describeHeader(s, other, unit), Evidence: other.Terms, Note: note}
			if note == "" {
				c.Settings, c.Note = headerSettings(s, other)
			}
			list = append(list, c)
		}
	}
	e.Add(rows.DecisionHeader, list...)
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
		settings.Header = "none"
		if l.First > 0 {
			settings.Skip = strconv.Itoa(s.Rows[l.First].Line - 1)
		}
	case n == 1:
		settings.Header = strconv.Itoa(s.Rows[l.First].Line)
	default:
		note = fmt.Sprintf("headerRows %d to %d in a descriptor", s.Rows[l.First].Line, s.Rows[l.End-1].Line)
	}
	return settings, note
}

// explainFootnotes adds the evidence for the footnotes of the body to an explanation. header is the
// line that names the columns; 0: several lines do.
func (b *Body) explainFootnotes(e *rows.Explanation, header int) {
	if len(b.terms) == 0 {
		return
	}
	kept := rows.Candidate{Text: "they are records", Note: "headerRows in a descriptor"}
	if header > 0 {
		kept.Settings.Header, kept.Note = strconv.Itoa(header), ""
	}
	used := rows.Candidate{Text: fmt.Sprintf("footnotes from %s %d", b.report.Unit, b.notes[0].Line), Used: true,
		Evidence: b.terms}
	e.Add(rows.DecisionFootnotes, used, kept)
}
