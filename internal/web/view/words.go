package view

import (
	"slices"
	"strings"
	"unicode"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Words says which rows a view shows, for titles and previews.
type Words struct {
	Rows       string   // such as "223 of 23,412 earthquakes"
	Conditions []string // such as "magnitude ≥ 7.5"
	// Named is true if Rows says what the rows are, so that it needs no title beside it.
	Named bool
}

// NewWords describes the rows of a listing with this many of them.
func NewWords(s *State, total int) Words {
	var w Words
	if search := strings.TrimSuffix(strings.TrimSpace(s.Listing.Get(query.ParamSearch)), "*"); search != "" { // the star that typing appends
		w.Conditions = append(w.Conditions, "“"+herb.Clip(PlainText(search), maxChipText)+"”")
	}
	var seen []int
	for _, p := range s.Listing {
		i, _, ok := query.ResolveFilter(p.Name, s.fields)
		if !ok || slices.Contains(seen, i) {
			continue
		}
		seen = append(seen, i)
		column := NewColumn(s.dataset, i)
		for _, c := range describe(&column, s.conditions(i)) {
			w.Conditions = append(w.Conditions, PlainText(herb.Clip(column.Heading, maxChipText)+" "+c.Short+" "+c.Value))
		}
	}
	noun := rowsNoun(s.dataset)
	w.Named = noun != ""
	switch {
	case noun == "" && s.dataset.Records == 1:
		noun = "row"
	case noun == "":
		noun = "rows"
	}
	w.Rows = herb.Count(s.dataset.Records) + " " + noun
	switch {
	case total != s.dataset.Records:
		w.Rows = herb.Count(total) + " of " + w.Rows
	case len(w.Conditions) > 0 && total > 1:
		w.Rows = "All " + w.Rows
	}
	return w
}

// String returns the words as one phrase.
func (w Words) String() string { return strings.Join(append([]string{w.Rows}, w.Conditions...), ", ") }

// Title returns the title of a view of rows: that of the dataset, and which of its rows it shows
// unless these are all.
func (w Words) Title(dataset string) string {
	switch {
	case len(w.Conditions) == 0:
		return dataset
	case w.Named:
		return w.String()
	}
	return dataset + ": " + w.String()
}

// rowsNoun returns what the rows of a dataset are, if its title is a plural such as "Earthquakes";
// empty if it is not.
func rowsNoun(d *herb.Dataset) string {
	title := PlainText(d.Title)
	if title == "" {
		title = d.Ref.Name
	}
	isWord := !strings.ContainsFunc(title, func(r rune) bool { return !unicode.IsLetter(r) })
	lower := strings.ToLower(title)
	const shortest = 4
	if !isWord || len(lower) < shortest || !strings.HasSuffix(lower, "s") || slices.ContainsFunc([]string{"ss", "us", "is", "ics"}, func(end string) bool { return strings.HasSuffix(lower, end) }) {
		return ""
	}
	return lower
}
