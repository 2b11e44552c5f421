package segment

import (
	"context"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/fulltext"
	"herbarium/internal/segment/internal/guard"
)

// WordCount is a word and the number of records that contain it.
type WordCount = fulltext.WordCount

// TopWords returns for each of some searchable fields the words that most records contain in
// it, at most top of them, the most frequent first. Words that skip rejects are left out. It reads
// the full-text index, not the records.
func (r *Reader) TopWords(ctx context.Context, fields []int, top int, skip func(word string) bool) (words [][]WordCount,
	err error) {
	err = r.file.Guard(func() error {
		st := guard.NewSteps(ctx)
		frequent := r.words.NewTopWords(st, skip)
		for _, field := range fields {
			words = append(words, frequent.In(st, field, top))
		}
		return nil
	})
	return words, err
}

// Words implements query.Engine.
func (r *Reader) Words(q *query.Request) (words query.Words, err error) {
	err = r.file.Guard(func() error {
		words, err = q.Words(r.words.Contains)
		return err
	})
	return words, err
}

// HasWord reports whether a word occurs in a record.
func (r *Reader) HasWord(word string) (has bool, err error) {
	err = r.file.Guard(func() error {
		has = r.words.Contains(word)
		return nil
	})
	return has, err
}

// NearestWord returns the word of the searchable fields that a word without records may be a typo
// of; empty if there is none, or the word has records or a digit. If isPrefix is true, the word may
// be the beginning of the other one. It reads the full-text index, not the records.
func (r *Reader) NearestWord(ctx context.Context, word string, isPrefix bool) (nearest string, err error) {
	err = r.file.Guard(func() error {
		found, _ := r.words.Nearest(guard.NewSteps(ctx), word, isPrefix)
		nearest = found.Word
		return nil
	})
	return nearest, err
}
