package columns

import (
	"slices"
	"strings"
	"unicode"

	"herbarium/internal/herb"
	"herbarium/internal/text"
	"herbarium/internal/web/view/format"
)

// namingColumns returns the positions of the field whose values name the records for a reader, and
// of the field whose values are their titles: a title or name, else a short text that differs in
// all records and is no identifier. Without one, the primary key or the first field names the
// records; titles are those of a key with a single field that is not text, else the text with the
// most distinct values.
func namingColumns(d *Dataset) (naming, titles int) {
	best := BestColumn(d, func(i int) int { return namingScore(d, i) })
	if best < 0 {
		best = BestColumn(d, func(i int) int { return uniqueTextScore(d, i) })
	}
	if best >= 0 {
		return best, best
	}
	if len(d.PrimaryKey) > 0 {
		naming = max(herb.FieldIndex(d.Fields, d.PrimaryKey[0]), 0)
		if len(d.PrimaryKey) == 1 && d.Fields[naming].Type != herb.TypeText {
			return naming, naming
		}
	}
	titles = BestColumn(d, func(i int) int { return distinctTextScore(d, i) })
	if titles < 0 {
		titles = naming
	}
	return naming, titles
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
	case !hasWord(f.Name, "title", "name", "label"):
		return 0
	case hasWord(f.Name, "display", "full", "common"):
		return 3
	case hasWord(f.Name, "en", "english"):
		return 2
	}
	return 1
}

// uniqueTextScore rates a field by its values as the name of a record; 0 if it is none. Names
// consist of words and nearly all differ.
func uniqueTextScore(d *Dataset, i int) int {
	c := d.Meanings[i].Report
	isName := func(value string) bool {
		return !strings.ContainsFunc(value, unicode.IsDigit) && !strings.ContainsAny(value, "@_/")
	}
	if distinctTextScore(d, i) == 0 || 10*c.Filled < 9*d.Records || 10*c.Distinct < 9*c.Filled || !isName(c.Min) ||
		!isName(c.Max) {
		return 0
	}
	return 1
}

// distinctTextScore rates a field as the title of a record by the number of its values; 0 if they
// are not short texts with letters, or if most records have none.
func distinctTextScore(d *Dataset, i int) int {
	f, c := d.Fields[i], d.Meanings[i].Report
	if c == nil || f.Type != herb.TypeText || d.Meanings[i].Kind != KindText || isCodeName(f.Name, c) ||
		format.IsWebAddress(c.Min) || format.IsWebAddress(c.Max) {
		return 0
	}
	hasLetter := func(value string) bool { return strings.ContainsFunc(value, unicode.IsLetter) }
	if 2*c.Filled < d.Records || c.Longest > LongText || !hasLetter(c.Min) || !hasLetter(c.Max) {
		return 0
	}
	return c.Distinct
}

// hasWord reports whether an identifier such as image_url, imageUrl or image-url contains one of
// the words.
func hasWord(name string, words ...string) bool {
	return slices.ContainsFunc(text.IdentifierWords(name), func(w string) bool { return slices.Contains(words, w) })
}
