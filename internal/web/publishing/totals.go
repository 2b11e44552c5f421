package publishing

import (
	"encoding/json"
	"slices"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/review"
	"herbarium/internal/web/view/format"
)

// valueRows describes rows that look like totals, or that are left out by their values, with what
// can be done about them.
type valueRows struct {
	Text     string
	Remedies []remedy
}

// TotalRows returns the records that look like totals, and the rows that are left out by their
// values.
func (page *reviewPage) TotalRows() (all []valueRows) {
	for _, t := range page.Totals {
		v := valueRows{Text: capitalize(format.PlainText(t.String())) + "."}
		if t.Position >= 0 {
			label := map[bool]string{true: "Leave it out", false: "Leave them out"}[t.Rows == 1]
			v.Remedies = append(v.Remedies, remedy{Label: label, Do: valueAction(doExclude, t)})
		}
		if slices.ContainsFunc(page.Rows, func(r review.Row) bool { return r.Number == t.Row && t.Row > 0 }) {
			v.Remedies = append(v.Remedies, remedy{Label: "Show the row", Href: "#r" + strconv.Itoa(t.Row)})
		}
		all = append(all, v)
	}
	for _, x := range page.Excluded {
		value := x.Column + " is “" + herb.Clip(format.PlainText(x.Value), 60) + "”"
		v := valueRows{Text: herb.Plural(x.Rows, "row is", "rows are") + " left out, also from later files: " + value + "."}
		label := map[bool]string{true: "Keep it", false: "Keep them"}[x.Rows == 1]
		if x.Rows == 0 {
			v.Text, label = "No row is left out because "+value+".", "Remove the rule"
		}
		if x.Position >= 0 {
			v.Remedies = []remedy{{Label: label, Do: valueAction(doInclude, x)}}
		}
		all = append(all, v)
	}
	return all
}

// valueAction returns the value of the button for an edit about a value of a column. The value is
// JSON, because forms change line breaks.
func valueAction(do string, v review.ValueRows) string {
	value, _ := json.Marshal(v.Value) // a string can be encoded
	return action(do, v.Position) + " " + string(value)
}
