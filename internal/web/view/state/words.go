package state

import (
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
)

// Words says which rows a view shows, for titles and previews.
type Words struct {
	Rows       string   // such as "223 of 23,412 rows"
	Conditions []string // such as "magnitude ≥ 7.5"
}

// NewWords describes the rows of a listing with this many of them.
func NewWords(s *State, total int) Words {
	var w Words
	// the star that typing appends
	if search := strings.TrimSuffix(strings.TrimSpace(s.Listing.Get(query.ParamSearch)), "*"); search != "" {
		w.Conditions = append(w.Conditions, "“"+herb.Clip(format.PlainText(search), MaxChipText)+"”")
	}
	var seen []int
	for _, p := range s.Listing {
		if heading, c, ok := DescribeArea(p); ok {
			w.Conditions = append(w.Conditions,
				format.PlainText(herb.Clip(heading+" "+c.Short+" "+c.Value, MaxChipValue)))
		}
		i, _, ok := query.ResolveFilter(p.Name, s.Fields)
		if !ok || slices.Contains(seen, i) {
			continue
		}
		group := s.GroupOf(i)
		if group == nil {
			seen, w.Conditions = append(seen, i), append(w.Conditions, s.describeField(i)...)
			continue
		}
		var alternatives []string
		for _, field := range group {
			seen, alternatives = append(seen, field), append(alternatives,
				strings.Join(s.describeField(field), " and "))
		}
		w.Conditions = append(w.Conditions, strings.Join(alternatives, " or "))
	}
	w.Rows = herb.Plural(s.Dataset.Records, "row", "rows")
	switch {
	case total != s.Dataset.Records:
		w.Rows = herb.Count(total) + " of " + w.Rows
	case len(w.Conditions) > 0 && total > 1:
		w.Rows = "All " + w.Rows
	}
	return w
}

// describeField returns the conditions on a field in words.
func (s *State) describeField(field int) (conditions []string) {
	column := columns.NewColumn(s.Dataset, field)
	for _, c := range DescribeConditions(&column, s.Conditions(field)) {
		conditions = append(conditions,
			format.PlainText(herb.Clip(column.Heading, MaxChipText)+" "+c.Short+" "+c.Value))
	}
	return conditions
}

// String returns the words as one phrase.
func (w Words) String() string { return strings.Join(append([]string{w.Rows}, w.Conditions...), ", ") }

// Title returns the title of a view of rows: that of the dataset, and which of its rows it shows
// unless these are all.
func (w Words) Title(dataset string) string {
	if len(w.Conditions) == 0 {
		return dataset
	}
	return dataset + ": " + w.String()
}
