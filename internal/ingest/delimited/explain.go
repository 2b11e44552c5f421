package delimited

import (
	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/table"
)

// explain adds the reading that is used, with the best other header, and the readings in other
// delimiters to an explanation. hasNames reports that a comment above the table names its columns.
func (s sample) explain(e *rows.Explanation, used reading, hasNames bool) {
	for _, r := range used.tried {
		if r.dialect.name() != used.dialect.name() && r.header > 1 {
			e.Add(explainOther(r))
		}
	}
	base := rows.ScoredReading{Text: used.dialect.name() + ", ", Terms: used.terms}
	if hasNames {
		base.Text, base.Used = base.Text+"the comment above the table names the columns", true
		e.Add(base)
		return
	}
	table.Explain(e, used.examined, used.detected, "line", base)
}

// explainOther returns the reading in another delimiter. Its header is not part of the score,
// because the delimiter is chosen first.
func explainOther(r reading) rows.ScoredReading {
	var alone rows.Explanation
	table.Explain(&alone, r.examined, r.detected, "line", rows.ScoredReading{Text: r.dialect.name() + ", "})
	other := rows.ScoredReading{Text: alone.Readings[0].Text, Terms: r.terms}
	if r.dialect.blanks {
		other.Note = "no setting selects this delimiter"
	} else {
		other.Settings = herb.Reading{Delimiter: rows.DelimiterFlag(r.dialect.Delimiter)}
	}
	return other
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
