package delimited

import (
	"fmt"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/table"
)

// decisive is the value of a term that decides about a delimiter regardless of its score.
const decisive = 1000

// explain adds the reading that is used, with the best other header, and the readings in other
// delimiters to an explanation. hasNames reports that a comment above the table names its columns.
func (s sample) explain(e *rows.Explanation, used reading, hasNames bool) {
	base := rows.ScoredReading{Text: used.dialect.name() + ", ", Terms: []rows.Term{used.delimiterTerm()}}
	rule := used.rule
	for _, r := range used.tried {
		if r.dialect.name() == used.dialect.name() || r.header < 2 {
			continue
		}
		other := explainOther(r)
		switch score := rows.SumTerms(other.Terms); {
		case rule == "" && score > used.score():
			rule = "it splits all records alike"
		case rule == "" && score == used.score():
			rule = "of equals, the first of comma, semicolon, tab and bar"
		}
		e.Add(other)
	}
	if rule != "" {
		base.Terms = append(base.Terms, rows.Term{Decision: rows.DecisionDelimiter, Name: rule, Value: decisive})
	}
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
	other := rows.ScoredReading{Text: alone.Readings[0].Text, Terms: []rows.Term{r.delimiterTerm()}}
	if why := r.whyNot(); why != "" {
		other.Terms = append(other.Terms, rows.Term{Decision: rows.DecisionDelimiter, Name: why, Value: -decisive})
	}
	if r.dialect.isFixed() {
		other.Settings = herb.Reading{Widths: formatWidths(r.dialect.Widths)}
	} else if r.dialect.blanks || r.dialect.double {
		other.Note = "no setting selects this delimiter"
	} else {
		other.Settings = herb.Reading{Delimiter: rows.DelimiterFlag(r.dialect.Delimiter)}
	}
	return other
}

// delimiterTerm returns the evidence for the delimiter.
func (r reading) delimiterTerm() rows.Term {
	name := "no records to compare with the header"
	if r.total > 0 {
		separators := herb.Plural(r.header-1, "delimiter", "delimiters")
		if r.dialect.isFixed() {
			separators = herb.Plural(r.header-1, "boundary", "boundaries")
		}
		name = fmt.Sprintf("%d of %s fit the header, times %s", r.fitting, herb.Plural(r.total, "record", "records"), separators)
	}
	return rows.Term{Decision: rows.DecisionDelimiter, Name: name, Value: r.score()}
}

// whyNot returns the rule that excludes a delimiter, or "" if only its score does.
func (r reading) whyNot() string {
	isEven := r.total > 0 && r.fitting == r.total
	switch {
	case r.broken:
		return "a quote is not closed"
	case r.exceeds && 2*r.fitting < r.total:
		return "most records have another number of values than the header"
	case !r.isUsual() && !isEven:
		return "it does not split all records evenly"
	}
	return ""
}

// isUsual reports whether the delimiter is tried before others.
func (r reading) isUsual() bool {
	switch r.dialect.Delimiter {
	case ',', ';', '\t', '|':
		return !r.dialect.blanks && !r.dialect.double
	}
	return false
}

// name names the delimiter for a message.
func (d dialect) name() string {
	switch {
	case d.isFixed():
		return "fixed width, columns at characters " + d.starts()
	case d.wide:
		return "at least two blanks"
	case d.blanks:
		return "runs of blanks"
	case d.double:
		return "two colons"
	case d.Delimiter == 0:
		return "no delimiter"
	}
	return rows.DelimiterName(d.Delimiter)
}
