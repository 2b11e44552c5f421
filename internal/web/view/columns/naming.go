package columns

import (
	"strings"
	"unicode"

	"herbarium/internal/herb"
	"herbarium/internal/web/view/format"
)

// namingColumn returns the position of the field whose values name the records for a reader: a
// title or name, else a short text that differs in all records and is no identifier, else the
// primary key, else the first field.
func namingColumn(d *Dataset) int {
	best := BestColumn(d, func(i int) int { return namingScore(d, i) })
	if best < 0 {
		best = BestColumn(d, func(i int) int { return uniqueTextScore(d, i) })
	}
	if best < 0 && len(d.PrimaryKey) > 0 {
		best = herb.FieldIndex(d.Fields, d.PrimaryKey[0])
	}
	return max(best, 0)
}

// BestColumn returns the position of the first field with the highest score; -1 if all scores
// are 0.
func BestColumn(d *Dataset, score func(i int) int) int {
	best, highest := -1, 0
	for i := range d.Fields {
		if s := score(i); s > highest {
			best, highest = i, s
		}
	}
	return best
}

// namingScore rates a field as the name of a record; 0 if it is none.
func namingScore(d *Dataset, i int) int {
	f := d.Fields[i]
	if f.Type != herb.TypeText || d.Meanings[i].Kind != KindText {
		return 0
	}
	if c := d.Meanings[i].Report; c != nil && d.Records > 0 && (10*c.Filled < 9*d.Records || 2*c.Distinct < c.Filled) {
		return 0 // often empty, or shared by many records
	}
	switch lower := strings.ToLower(f.Name); {
	case lower == "title" || lower == "name" || lower == "label":
		return 4
	case !HasWord(f.Name, "title", "name", "label"):
		return 0
	case HasWord(f.Name, "display", "full", "common"):
		return 3
	case HasWord(f.Name, "en", "english"):
		return 2
	}
	return 1
}

// uniqueTextScore rates a field by its values as the name of a record; 0 if it is none. Names
// consist of words.
func uniqueTextScore(d *Dataset, i int) int {
	f, c := d.Fields[i], d.Meanings[i].Report
	if c == nil || f.Type != herb.TypeText || d.Meanings[i].Kind != KindText || isCodeName(f.Name) || format.IsWebAddress(c.Min) || format.IsWebAddress(c.Max) {
		return 0
	}
	isName := func(value string) bool {
		return strings.ContainsFunc(value, unicode.IsLetter) && !strings.ContainsFunc(value, unicode.IsDigit) && !strings.ContainsAny(value, "@_/")
	}
	if 10*c.Filled < 9*d.Records || 10*c.Distinct < 9*c.Filled || c.Longest > LongText || !isName(c.Min) || !isName(c.Max) {
		return 0
	}
	return 1
}
