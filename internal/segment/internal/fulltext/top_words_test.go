package fulltext_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/build"
	"herbarium/internal/segment/internal/buildtest"
	"herbarium/internal/segment/internal/fulltext"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// TestTopWords compares the frequent words of a field with counts of the records, in files
// with and without postings by field.
func TestTopWords(t *testing.T) {
	t.Parallel()
	skip := func(word string) bool { return word == "oak" }
	for _, n := range []int{0, 1, 3000} {
		records := randomRecords(n)
		for _, opts := range []build.Options{{Indexes: buildtest.AllIndexes()}, {Indexes: noIndexes()}} {
			index := openRecords(t, records, opts)
			st := guard.NewSteps(t.Context())
			frequent := index.NewTopWords(st, skip)
			for field := range 2 {
				want := countWords(records, field, skip)
				if got := frequent.In(st, field, 4); !slices.Equal(got, want[:min(len(want), 4)]) {
					t.Errorf("%d records, field %d: %v, want %v", n, field, got, want)
				}
			}
		}
	}
}

// countWords returns the words of a field by descending number of records.
func countWords(records []herb.Record, field int, skip func(string) bool) (all []fulltext.WordCount) {
	counts := map[string]int{}
	for _, r := range records {
		words := text.AppendWords(nil, strings.TrimSpace(r[field]))
		slices.Sort(words)
		for _, word := range slices.Compact(words) {
			counts[word]++
		}
	}
	for word, n := range counts {
		if !skip(word) {
			all = append(all, fulltext.WordCount{Word: word, Records: n})
		}
	}
	slices.SortFunc(all, func(a, b fulltext.WordCount) int {
		return cmp.Or(cmp.Compare(b.Records, a.Records), cmp.Compare(a.Word, b.Word))
	})
	return all
}
