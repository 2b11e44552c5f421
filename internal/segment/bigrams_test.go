package segment

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/query"
)

// TestBigrams compares phrase searches in files with and without bigrams, and checks that these are used.
func TestBigrams(t *testing.T) {
	t.Parallel()
	with, without := withAndWithoutOptionalIndexes(t)
	used := compareSearches(t, with, without,
		"%22oak+elm%22", "%22elm+oak%22", "%22oak+ivy%22", "%22oak+oak%22", "%22oak+elm+ash%22", "%22oak+oak+oak+oak%22", "%22ivy+ivy%22",
		"%22oak+elm%22+ash", "%22oak+e*%22", "%22oak+elm+a*%22", "oak+-%22oak+elm%22", "%22oak+absent%22", "%22a+oak%22",
	)
	if n := used[&with.words.bigrams.postingsTable]; n < 12 {
		t.Errorf("only %d phrases were found as bigrams", n)
	}
}

// withAndWithoutOptionalIndexes returns two files of the same records: one with all optional indexes, and one with
// none.
func withAndWithoutOptionalIndexes(t *testing.T) (with, without *Reader) {
	t.Helper()
	const n = 5000
	with = openWordy(t, n, AllOptionalIndexes(Options{}))
	without = openWordy(t, n, Options{optional: optionalIndexRules{bigramRules{from: math.MaxInt}, prefixRules{from: math.MaxInt}}})
	if without.words.bigrams.docs.len() != 0 || without.words.prefixes.docs.len() != 0 {
		t.Fatal("unexpected optional indexes")
	}
	return with, without
}

// compareSearches compares pages of searches in two files. It returns the postings tables of their first clauses.
func compareSearches(t *testing.T, with, without *Reader, searches ...string) map[*postingsTable]int {
	t.Helper()
	used := map[*postingsTable]int{}
	for _, raw := range searches {
		for _, page := range []int{1, 2, 5} {
			q, err := query.Parse(fmt.Sprintf("search=%s&page=%d&per_page=13", raw, page), with.Fields())
			if err != nil {
				t.Fatal(err)
			}
			got, total, err := with.findPage(newSteps(t.Context()), q)
			if err != nil {
				t.Fatal(err)
			}
			want, wantTotal, err := without.findPage(newSteps(t.Context()), q)
			if err != nil {
				t.Fatal(err)
			}
			if total != wantTotal || !slices.Equal(got, want) {
				t.Errorf("%s, page %d: %d records, %v; want %d, %v", raw, page, total, got, wantTotal, want)
			}
			c, err := with.words.matchClause(newSteps(t.Context()), q.Search.Clauses[0])
			if err != nil {
				t.Fatal(err)
			}
			used[c.in]++
		}
	}
	return used
}

func TestBigramRules(t *testing.T) {
	t.Parallel()
	const records = 100
	found := []uint32{1, 100, 10, 0, 100, 50}
	tests := map[string]struct {
		rules bigramRules
		want  []commonWord
	}{
		"too few records": {bigramRules{from: 101, share: 1, most: 8}, nil},
		"only terms in all records": {
			bigramRules{from: 100, share: 1, most: 8},
			[]commonWord{{1, 100, 2}, {4, 100, 2}},
		},
		"a share": {
			bigramRules{share: 10, most: 8},
			[]commonWord{{1, 100, 4}, {4, 100, 4}, {5, 50, 3}, {2, 10, 2}},
		},
		"no more than twelve bigrams": {
			bigramRules{share: 10, most: 1},
			[]commonWord{{1, 100, 3}, {4, 100, 3}, {5, 50, 3}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := test.rules.common(found, records)
			if d := cmp.Diff(test.want, got, cmp.AllowUnexported(commonWord{})); d != "" {
				t.Errorf("- want, + got:\n%s", d)
			}
		})
	}
}
