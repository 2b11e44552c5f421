package publishing

import (
	"herbarium/internal/herb"
	"herbarium/internal/versions"
)

// difference is a line about what changes for the users of a dataset.
type difference struct{ Class, Number, Text string }

// Differences returns what changes for the users of a dataset, besides breaking changes that have a
// box of their own.
func (page *reviewPage) Differences() (all []difference) {
	add := func(class, number, text string) { all = append(all, difference{class, number, text}) }
	if page.Live == "" {
		add("", herb.Count(page.Records), plural(page.Records, "record", "records"))
		add("", herb.Count(page.fields()), plural(page.fields(), "column", "columns"))
		return all
	}
	all = page.recordDifferences()
	for _, c := range page.Changes {
		switch {
		case c.Kind == versions.FieldAdded:
			add("added", "+ 1", "column: "+c.Field)
		case c.Kind == versions.FieldRemoved:
			add("removed", "− 1", "column: "+c.Field)
		case !c.Breaking:
			add("", "", c.Message)
		}
	}
	if len(all) == 0 && len(page.Consents) == 0 {
		add("", "", "nothing: the records are the same")
	}
	return all
}

// recordDifferences returns how many records are new, changed and gone.
func (page *reviewPage) recordDifferences() (all []difference) {
	c := page.Compared
	if c == nil {
		return []difference{{"", herb.Count(page.Records), plural(page.Records, "record", "records") + "; there are too many to compare"}}
	}
	add := func(n int, sign, text string) {
		if n > 0 {
			all = append(all, difference{"", sign + herb.Count(n), text})
		}
	}
	add(c.New, "+ ", "new "+plural(c.New, "record", "records"))
	changed := "changed"
	if len(c.Fields) > 0 {
		most := c.Fields[0]
		changed += ", " + herb.Count(most.Count) + " of them in " + most.Field
		if most.Count == c.Changed {
			changed = "changed, in " + most.Field
		}
	}
	add(c.Changed, "", changed)
	add(c.Gone, "", "gone")
	if len(all) == 0 {
		add(c.Same, "", "the same "+plural(c.Same, "record", "records"))
	}
	return all
}

// fields returns the number of columns that are published.
func (page *reviewPage) fields() (n int) {
	for _, c := range page.Columns {
		if c.Field != "" {
			n++
		}
	}
	return n
}

// plural returns the word for a number that stands beside it.
func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
