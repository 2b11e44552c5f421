package delimited

import (
	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/table"
)

// explain adds the delimiters and the headers that were compared to an explanation. hasNames
// reports that a comment above the table names its columns.
func (s sample) explain(e *rows.Explanation, used reading, hasNames bool) {
	delimiters := []rows.Candidate{{Text: used.dialect.name(), Used: true, Evidence: used.terms}}
	for _, r := range used.tried {
		if r.dialect.name() == used.dialect.name() || len(r.terms) == 0 || r.dialect.blanks &&
			rows.SumTerms(r.terms) == 0 {
			continue
		}
		c := rows.Candidate{Text: r.dialect.name(), Evidence: r.terms, Note: "no setting selects it"}
		if !r.dialect.blanks {
			c.Settings, c.Note = herb.Reading{Delimiter: rows.DelimiterFlag(r.dialect.Delimiter)}, ""
		}
		delimiters = append(delimiters, c)
	}
	e.Add(rows.DecisionDelimiter, delimiters...)
	if hasNames {
		e.Add(rows.DecisionHeader, rows.Candidate{Text: "the comment above the table names the columns", Used: true})
		return
	}
	table.Explain(e, used.examined, used.detected, "line", "")
}

// name names the delimiter for a message.
func (d dialect) name() string {
	switch {
	case d.isFixed():
		return "columns of given widths"
	case d.blanks:
		return "runs of blanks"
	case d.Delimiter == 0:
		return "no delimiter"
	}
	return rows.DelimiterName(d.Delimiter)
}
