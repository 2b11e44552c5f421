package drafts

import (
	"encoding/json"

	"herbarium/internal/herb"
	"herbarium/internal/web/view/format"
)

// excludedRows describes rows that are left out by their values, or that the publisher keeps
// although the live version leaves them out, with what can be done about them.
type excludedRows struct {
	Text     string
	Remedies []remedy
}

// ExcludedRows returns the rows that are left out by their values, and those that the publisher
// keeps.
func (page *reviewPage) ExcludedRows() (all []excludedRows) {
	for _, x := range page.Excluded {
		value := x.Column + " is " + quoteValue(x.Value)
		rows := excludedRows{Text: herb.Plural(x.Rows, "row is", "rows are") + " left out, also from later files: " +
			value + "."}
		label := map[bool]string{true: "Keep it", false: "Keep them"}[x.Rows == 1]
		if x.Rows == 0 {
			rows.Text, label = "No row is left out because "+value+".", "Remove the rule"
		}
		if x.Position >= 0 {
			rows.Remedies = []remedy{{Label: label, Do: valueAction(doInclude, x.Position, x.Value)}}
		}
		all = append(all, rows)
	}
	for _, x := range page.Draft.Edits.Exclude {
		if x.Keep && x.Column < len(page.Columns) {
			all = append(all, excludedRows{
				Text: "Rows are kept, also of later files: " + page.Columns[x.Column].Source + " is " +
					quoteValue(x.Value) + ".",
				Remedies: []remedy{{Label: "Leave them out", Do: valueAction(doExclude, x.Column, x.Value)}},
			})
		}
	}
	return all
}

func quoteValue(value string) string { return "“" + herb.Clip(format.PlainText(value), 60) + "”" }

// valueAction returns the value of the button for an edit about a value of a column. The value is
// JSON, because forms change line breaks.
func valueAction(do string, column int, value string) string {
	encoded, _ := json.Marshal(value) // a string can be encoded
	return action(do, column) + " " + string(encoded)
}
