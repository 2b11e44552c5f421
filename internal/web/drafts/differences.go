package drafts

import (
	"cmp"
	"slices"
	"strings"

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
	if edited := page.editedDescription(); edited != "" {
		add("", "", "edited: "+edited)
	}
	if len(all) == 0 && len(page.Consents) == 0 {
		add("", "", "nothing: the records are the same")
	}
	return all
}

// editedDescription names what the publisher has changed about the description of the dataset.
func (page *reviewPage) editedDescription() string {
	var names []string
	for _, edited := range []struct {
		name  string
		value *string
	}{{"title", page.Draft.Edits.Title}, {"license", page.Draft.Edits.License},
		{"next edition", page.Draft.Edits.Expected}, {"description", page.Draft.Edits.Description}} {
		if edited.value != nil {
			names = append(names, edited.name)
		}
	}
	return strings.Join(names, ", ")
}

// recordDifferences returns how many records are new, changed and gone.
func (page *reviewPage) recordDifferences() (all []difference) {
	c := page.Compared
	if c == nil {
		return []difference{{"", herb.Count(page.Records), plural(page.Records, "record", "records") +
			"; not compared with those of the live version"}}
	}
	add := func(n int, sign, text string) {
		if n > 0 {
			all = append(all, difference{"", sign + herb.Count(n), text})
		}
	}
	add(c.Added, "+ ", "new "+plural(c.Added, "record", "records"))
	changed := "changed"
	if len(c.Fields) > 0 {
		most := slices.MaxFunc(c.Fields, func(a, b herb.FieldChange) int { return cmp.Compare(a.Records, b.Records) })
		changed += ", " + herb.Count(most.Records) + " of them in " + most.Field
		if most.Records == c.Changed {
			changed = "changed, in " + most.Field
		}
	}
	add(c.Changed, "", changed)
	add(c.Removed, "", "gone")
	if len(all) == 0 {
		add(c.Unchanged, "", "the same "+plural(c.Unchanged, "record", "records"))
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
