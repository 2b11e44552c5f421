package charts

import (
	"slices"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
)

// note says what was counted and what was not.
func (b *answerBuilder) note() (notes []string) {
	if b.isScatter() {
		return b.noteScatter()
	}
	total := herb.Plural(b.All.Total, "row", "rows")
	if len(b.By) > 0 {
		total += " in " + herb.Plural(b.Groups.Groups, "group", "groups")
	}
	all := b.All.Rows[0].Values
	if b.isAdditive() && b.Measure.Field >= 0 && len(b.By) > 0 && !b.isWide() {
		total += ", total " + b.exact(all[0])
	}
	notes = append(notes, total+".")
	if b.Measure.Kind == query.MeasureRatio {
		notes = append(notes, "The sum of one column is divided by the sum of the other; both ignore rows without a "+
			"value.")
	} else if b.Measure.Field >= 0 && !b.isWide() {
		name := columns.Heading(b.Question.fields[b.Measure.Field])
		if filled, err := strconv.Atoi(all[1]); err == nil && filled < b.All.Total {
			notes = append(notes, "Not included: "+herb.Plural(b.All.Total-filled, "row", "rows")+
				" without a value of "+name+".")
		}
	}
	for i, by := range b.By {
		notes = append(notes, b.noteBy(i, by)...)
	}
	if len(b.By) == 2 && b.Aggregates.Series.Groups > 1 && b.Question.Kind != kindTable && !b.isWide() {
		notes = append(notes, b.seriesNote())
	}
	if unknown := b.unknownSeries(); unknown != "" {
		notes = append(notes, unknown)
	}
	if b.Question.Kind == kindTable && b.Groups.Groups*max(1, b.Aggregates.Series.Groups) > query.MaxGroupsReturned {
		notes = append(notes, "The API call returns up to "+herb.Count(query.MaxGroupsReturned)+
			" groups; the CSV file has all.")
	}
	return notes
}

// unknownSeries names the series of the question that no row has; empty: none.
func (b *answerBuilder) unknownSeries() string {
	known, unknown := labelsOf(b.Chosen.Rows), ""
	for _, label := range b.Question.Series {
		if !slices.Contains(known, label) {
			unknown += ", “" + format.PlainText(b.groupLabel(b.By[1], label)) + "”"
		}
	}
	if unknown == "" {
		return ""
	}
	const longest = 200
	return "No row has this " + columns.Heading(b.Question.fields[b.By[1].Field]) + ": " +
		herb.Clip(unknown[len(", "):], longest) + "."
}

// noteBy says which groups of a field are not shown, and what became of rows without a value.
func (b *answerBuilder) noteBy(at int, by query.By) (notes []string) {
	name := columns.Heading(b.Question.fields[by.Field])
	groups, shown := b.Groups.Groups, len(b.Groups.Rows)
	found := b.Groups.Rows
	if at == 1 {
		groups, found = b.Aggregates.Series.Groups, b.Aggregates.Series.Rows
		shown = len(b.drawn(b.Aggregates))
	}
	if groups > shown && (at == 1 || b.Question.Kind != kindTable) {
		notes = append(notes, "Shown: "+herb.Count(shown)+" of "+herb.Plural(groups, "group", "groups")+" of "+name+".")
	}
	if at == 0 && len(b.By) == 1 && len(found) > tableRows {
		notes = append(notes, "The table lists the first "+herb.Count(tableRows)+" groups; the CSV file has all.")
	}
	if at == 0 && by.HasIntervals() && !b.Filled && b.isCount() {
		notes = append(notes, "Intervals without rows are too many to be drawn.")
	}
	isDrawn := at == 1 || !by.HasIntervals() || b.Question.Kind == kindTable // the group of missing values
	for _, row := range found {
		switch {
		case row.By[0] != "":
		case !isDrawn && b.Measure.Kind == query.MeasureCount:
			n, _ := strconv.Atoi(row.Values[0])
			notes = append(notes, "Not drawn: "+herb.Plural(n, "row", "rows")+" without a value of "+name+".")
		case !isDrawn:
			notes = append(notes, "Rows without a value of "+name+" are not drawn.")
		default:
			notes = append(notes, "Rows without a value of "+name+" form the group “empty”.")
		}
	}
	if b.Question.fields[by.Field].Type == herb.TypeList {
		notes = append(notes, "A row is in the groups of all its values of "+name+
			", so groups add up to more than the total.")
	}
	if at == 1 && b.Cells.Groups > len(b.Cells.Rows) {
		notes = append(notes, "Only the first "+herb.Count(len(b.Cells.Rows))+" of "+herb.Count(b.Cells.Groups)+
			" combinations are drawn; add a filter.")
	}
	return notes
}
