package maps

import (
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/roles"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/state"
)

// tipField is a field that the tip of a point shows. The first one names the row; it has no heading
// if it is a text.
type tipField struct {
	Name    string `json:"name"` // of the member with its values, or with their category labels
	Heading string `json:"heading"`

	field string
}

// newTip returns a field of a tip. It shows category labels if all of its values have one.
func newTip(s *state.State, i int) tipField {
	f := &s.Fields[i]
	t := tipField{f.Name, columns.Heading(*f), f.Name}
	isUnlabeled := func(c herb.Category) bool { return c.Label == "" }
	if canLabel(s.Fields) && len(f.Categories) > 0 && !slices.ContainsFunc(f.Categories, isUnlabeled) {
		t.Name += query.LabelSuffix
	}
	return t
}

// canLabel reports whether a listing can have category labels: no field has the name of another
// one's.
func canLabel(fields []herb.Field) bool {
	return !slices.ContainsFunc(fields, func(f herb.Field) bool {
		return f.HasCategoryLabels() && herb.FieldIndex(fields, f.Name+query.LabelSuffix) >= 0
	})
}

// tipFields returns the fields of the tip of a point: the one that names the rows, those that size
// and color the points, and up to two details that say most about the row.
func tipFields(s *state.State, pairs []PairLink) []tipField {
	naming := s.Dataset.Naming
	title := newTip(s, naming)
	if s.Fields[naming].Type == herb.TypeText {
		title.Heading = ""
	}
	tips, used := []tipField{title}, []int{naming}
	for _, p := range pairs {
		used = append(used, p.Latitude, p.Longitude)
	}
	tip := func(i int) {
		used = append(used, i)
		tips = append(tips, newTip(s, i))
	}
	const details = 2
	for _, name := range []string{s.Size, s.Color} {
		if i := herb.FieldIndex(s.Fields, name); i >= 0 && !slices.Contains(used, i) {
			tip(i)
		}
	}
	for len(tips) < 1+details {
		best := columns.BestColumn(s.Dataset, func(i int) int {
			if slices.Contains(used, i) || slices.Contains(s.Dataset.PrimaryKey, s.Fields[i].Name) {
				return 0
			}
			return tipScore(s, i, used[1+2*len(pairs):])
		})
		if best < 0 {
			break
		}
		tip(best)
	}
	return tips
}

// tipScore rates a field as a detail of a row: the fields of the order and of filters first, then a
// measure, a date, and a category. The second detail is of another kind than the first one.
func tipScore(s *state.State, i int, shown []int) int {
	kind := s.Dataset.Meanings[i].Kind
	if slices.ContainsFunc(shown, func(other int) bool { return s.Dataset.Meanings[other].Kind == kind }) {
		return 0
	}
	score := 0
	switch {
	case kind == columns.KindNumber && roles.Of(s.Fields[i].Name).IsMeasure():
		score = 5
	case kind == columns.KindNumber:
		score = 4
	case kind == columns.KindDate:
		score = 3
	case kind == columns.KindCode && roles.Of(s.Fields[i].Name) == roles.Year:
		score = 3
	case kind == columns.KindText && s.Dataset.Meanings[i].Mode == columns.ModeValues:
		score = 2
	}
	if score > 0 && (sorts(s, i) || len(s.Conditions(i)) > 0) {
		score += 10
	}
	return score
}

// sorts reports whether the listing is sorted by a field alone.
func sorts(s *state.State, i int) bool { return s.Listing.Get(query.ParamSort) == s.Fields[i].Name }
