package drafts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/publish/review"
	"herbarium/internal/web/view/format"
)

// reviewColumn is a column of the file in a review.
type reviewColumn struct {
	review.Column
	Error    string // why an edit of it is not possible
	Types    []typeChoice
	Question string // that the first remedies answer; empty: none
	Remedies []remedy
	Width    int // in pixels
}

// FieldLine returns the name of the field for an input of one line: browsers remove line breaks.
func (c reviewColumn) FieldLine() string { return format.PlainText(c.Field) }

// HasDates reports whether the notation of the column's dates can be chosen.
func (c reviewColumn) HasDates() bool {
	return len(c.DateNotations) > 0 || isDate(cmp.Or(c.Edit.Type, c.Type)) || isDate(c.Almost)
}

// FormatHint says how the dates are written, as far as that is known.
func (c reviewColumn) FormatHint() string {
	switch {
	case c.Format != "":
		return c.Format
	case isDate(c.Type):
		return "ISO 8601"
	}
	return "such as %d.%m.%Y"
}

func isDate(t herb.Type) bool { return t == herb.TypeDate || t == herb.TypeDateTime }

// dateFormat is a notation of dates that a review suggests.
type dateFormat struct{ Format, Example string }

// DateFormats returns the notations that a review suggests. Others can be entered.
func (*reviewPage) DateFormats() []dateFormat {
	return []dateFormat{
		{"%d.%m.%Y", "31.12.2026"}, {"%d/%m/%Y", "31/12/2026"}, {"%m/%d/%Y", "12/31/2026"}, {"%m/%d/%y", "12/31/26"},
		{"%d-%m-%Y", "31-12-2026"}, {"%Y-%m-%d", "2026-12-31"}, {"%Y%m%d", "20261231"}, {"%m%d%Y", "12312026"},
		{"%d%m%Y", "31122026"}, {"%d %b %Y", "31 Dec 2026"}, {"%b %d, %Y", "Dec 31, 2026"}, {"%Y-%m", "2026-12"},
		{"%b %Y", "Dec 2026"}, {"%d/%m/%Y %H:%M", "31/12/2026 18:30"}, {"%m/%d/%Y %I:%M %p", "12/31/2026 6:30 PM"},
	}
}

// Hidden reports whether the column is not published.
func (c reviewColumn) Hidden() bool { return c.Field == "" }

type typeChoice struct {
	Value, Label string // an empty value is the inferred type
	Selected     bool
}

// remedy is something that a publisher can do with one click: an edit, or a link to rows.
type remedy struct{ Label, Do, Href string }

func (page *reviewPage) newColumn(c review.Column) reviewColumn {
	column := reviewColumn{Column: c, Types: typeChoices(c), Question: questionOf(c), Remedies: remediesOf(c)}
	if page.blames(c) {
		column.Error = page.Problem
	}
	if c.Edit.Type != "" || len(c.Edit.Missing) > 0 || column.Error != "" && c.Edit.Name != "" {
		column.Remedies = append(column.Remedies, remedy{Label: "Undo", Do: action(doUndo, c.Position)})
	}
	return column
}

// blames reports whether the error of the review is about a column: the one that was given the name
// in the review, if there is one, because another column may have the name as well.
func (page *reviewPage) blames(c review.Column) bool {
	if page.Field == "" {
		return false
	}
	if slices.ContainsFunc(page.Columns, func(c review.Column) bool { return c.Edit.Name == page.Field }) {
		return c.Edit.Name == page.Field
	}
	return c.Field == page.Field || c.Source == page.Field
}

// typeChoices returns the types of a column. The inferred one has no value, so that it stays
// inferred when the form is sent.
func typeChoices(c review.Column) (all []typeChoice) {
	edited := c.Edit.Type
	if edited != "" {
		all = append(all, typeChoice{"", "inferred", false})
	} else {
		all = append(all, typeChoice{"", string(c.Type), true})
	}
	for _, t := range herb.Types() {
		if edited != "" || t != c.Type {
			all = append(all, typeChoice{string(t), string(t), t == edited})
		}
	}
	return all
}

// remediesOf returns what can be done about values that prevent the type of a column, and about
// dates that can be read in several ways.
func remediesOf(c review.Column) (all []remedy) {
	for _, r := range c.DateNotations {
		if r.Format != c.Edit.Format {
			all = append(all, remedy{Label: notationLabel(c, r), Do: action(doFormat, c.Position) + " " +
				string(r.Type) + " " + r.Format})
		}
	}
	var missing []remedy
	isNear := c.Almost != "" && len(c.Others) > 0
	if isNear && !c.Most {
		missing = []remedy{{Label: "Treat as missing", Do: action(doMissing, c.Position)}}
	}
	if !c.Parses && len(all) == 0 { // the values are not of the type in any notation
		all, missing = append(all, missing...), nil
	}
	if isNear && c.Others[0].Row > 0 {
		all = append(all, remedy{Label: "Show the rows", Href: "#r" + strconv.Itoa(c.Others[0].Row)})
	}
	if (isNear || len(all) > 0) && c.Edit.Type != herb.TypeText && (c.Type != herb.TypeText || isNear) {
		all = append(all, remedy{Label: "Publish as text", Do: action(doText, c.Position)})
	}
	return append(all, missing...)
}

// questionOf returns the question that the readings of a column answer; empty: there are none.
func questionOf(c review.Column) string {
	if len(c.DateNotations) == 0 {
		return ""
	}
	if first := c.DateNotations[0]; len(first.Examples) == 1 {
		return "“" + format.PlainText(first.Examples[0].Value) + "” can be read in several ways:"
	}
	return "The dates are written in two notations:"
}

// notationLabel names a notation of a column by what it makes of real values.
func notationLabel(c review.Column, r herb.DateNotation) string {
	if len(r.Examples) == 1 {
		return readableDate(r.Examples[0].Date) + " (" + r.Examples[0].Order + ")"
	}
	var values []string
	for _, e := range r.Examples {
		values = append(values, format.PlainText(e.Value))
	}
	label := "Accept both " + strings.Join(values, " and ")
	if len(c.DateNotations) > 1 { // which differ in the last notation
		last := r.Examples[len(r.Examples)-1]
		for _, e := range r.Examples {
			if e.Order != "year first" {
				last = e
			}
		}
		label += ": " + readableDate(last.Date) + " (" + last.Order + ")"
	}
	return label
}

// readableDate returns a date in ISO 8601 as people read it, such as 9 Mar 2022.
func readableDate(iso string) string {
	date, err := time.Parse(time.DateOnly, iso)
	if err != nil {
		return iso
	}
	return date.Format("2 Jan 2006")
}

// exceptions describes the values that prevent the type of a column.
func exceptions(c *review.Column) string {
	const most = 3
	var quoted []string
	for _, e := range c.Others[:min(len(c.Others), most)] {
		quoted = append(quoted, "“"+herb.Clip(format.PlainText(e.Value), 40)+"”")
	}
	words := herb.Plural(c.Rest, "value is not a ", "values are not ") + string(c.Almost)
	if c.Rest != 1 {
		words += "s"
	}
	if len(c.Others) > most {
		quoted = append(quoted, "…")
	}
	return words + ": " + strings.Join(quoted, ", ") + "."
}
