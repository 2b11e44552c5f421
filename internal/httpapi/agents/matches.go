package agents

import (
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/operations"
	"herbarium/internal/query"
)

// rowsWithMatches yields the values of each record, and where it matches.
func (c *toolCall) rowsWithMatches(v gate.DatasetView, found operations.Records) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		next, stop := iter.Pull2(found.Matches(c.r.Context(), &v.View))
		defer stop()
		for row, err := range found.Rows(c.r.Context(), &v.View) {
			var matches []operations.FieldMatch
			if err == nil {
				matches, err, _ = next()
			}
			if !yield(append(row, formatMatches(matches)), err) || err != nil {
				return
			}
		}
	}
}

// columnMatches is the column of formatMatches.
const columnMatches = query.ParamMatches

// formatMatches returns the matches of a record as the text of a cell, with ** around what was
// found. Fields that make it longer than maxCell are only counted.
func formatMatches(matches []operations.FieldMatch) string {
	const counted = 30 // characters that say how many fields are left out
	var cell strings.Builder
	length := 0
	for i, m := range matches {
		field := m.Field + ": "
		if i > 0 {
			field = "; " + field
		}
		for k, part := range m.Parts {
			if k%2 == 1 {
				part = "**" + part + "**"
			}
			field += part
		}
		length += utf8.RuneCountInString(field)
		if length > maxCell-counted && i > 0 {
			fmt.Fprintf(&cell, "; and %s more", herb.Plural(len(matches)-i, "field", "fields"))
			break
		}
		cell.WriteString(field)
	}
	return cell.String()
}
