package versions

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
	"herbarium/internal/text"
)

// Limits of the frequent words in a report.
const (
	longText     = 120 // characters; the words of shorter texts are not reported
	maxWordLists = 16  // fields of a dataset
	maxWords     = 10  // of a field
)

// addWords adds the most frequent words of long texts to a report.
func addWords(ctx context.Context, r *segment.Reader, fields []herb.Field, columns []herb.ColumnReport) error {
	var long []int
	for i, f := range fields {
		if f.Searchable && f.Type == herb.TypeText && columns[i].Longest > longText && len(long) < maxWordLists {
			long = append(long, i)
		}
	}
	if len(long) == 0 {
		return nil
	}
	found, err := r.TopWords(ctx, long, maxWords, isInsignificant)
	if err != nil {
		return err
	}
	for k, i := range long {
		columns[i].Words = nil
		for _, w := range found[k] {
			columns[i].Words = append(columns[i].Words, herb.ValueCount{Value: w.Word, Count: w.Records})
		}
	}
	r.DropPages()
	return nil
}

// isInsignificant reports whether a word says nothing about a text: it is a number, a single
// character, part of an address, or a function word.
func isInsignificant(word string) bool {
	return utf8.RuneCountInString(word) < 2 || !strings.ContainsFunc(word, unicode.IsLetter) ||
		text.IsFunctionWord(word)
}
