package state

import (
	"slices"
	"strings"
	"unicode"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
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
		w.Conditions = append(w.Conditions, "“"+herb.Clip(format.PlainText(search), MaxChipText)+"”")
	}
	var seen []int
	for _, p := range s.Listing {
		i, _, ok := query.ResolveFilter(p.Name, s.Fields)
		if !ok || slices.Contains(seen, i) {
			continue
		}
		seen = append(seen, i)
		column := columns.NewColumn(s.Dataset, i)
		for _, c := range DescribeConditions(&column, s.Conditions(i)) {
			w.Conditions = append(w.Conditions, format.PlainText(herb.Clip(column.Heading, MaxChipText)+" "+c.Short+" "+c.Value))
		}
	}
	noun := rowsNoun(s.Dataset)
	w.Named = noun != ""
	switch {
	case noun == "" && s.Dataset.Records == 1:
		noun = "row"
	case noun == "":
		noun = "rows"
	}
	w.Rows = herb.Count(s.Dataset.Records) + " " + noun
	switch {
	case total != s.Dataset.Records:
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
	title := format.PlainText(d.Title)
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
