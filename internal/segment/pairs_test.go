package segment

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/query"
)

// TestPairs compares phrases of a file with pairs of words with those of one without, and sees that pairs are used.
func TestPairs(t *testing.T) {
	t.Parallel()
	with, without := withAndWithoutExtras(t)
	used := compareSearches(t, with, without,
		"%22oak+elm%22", "%22elm+oak%22", "%22oak+ivy%22", "%22oak+oak%22", "%22oak+elm+ash%22", "%22oak+oak+oak+oak%22", "%22ivy+ivy%22",
		"%22oak+elm%22+ash", "%22oak+e*%22", "%22oak+elm+a*%22", "oak+-%22oak+elm%22", "%22oak+absent%22", "%22a+oak%22",
	)
	if n := used[&with.words.pairs.occurrences]; n < 12 {
		t.Errorf("only %d phrases were found as pairs", n)
	}
}

// withAndWithoutExtras returns two files of the same records: one that has whatever makes searches faster, and one that has none.
func withAndWithoutExtras(t *testing.T) (with, without *Reader) {
	t.Helper()
	const n = 5000
	with = openWordy(t, n, Extras(Options{}))
	without = openWordy(t, n, Options{extras: extraRules{pairRules{from: math.MaxInt}, beginningRules{from: math.MaxInt}}})
	if without.words.pairs.found.len() != 0 || without.words.beginnings.found.len() != 0 {
		t.Fatal("there are extras where there should be none")
	}
	return with, without
}

// compareSearches compares pages of searches in two files. It returns where the first clauses of them have their numbers.
func compareSearches(t *testing.T, with, without *Reader, searches ...string) map[*occurrences]int {
	t.Helper()
	used := map[*occurrences]int{}
	for _, raw := range searches {
		for _, page := range []int{1, 2, 5} {
			q, err := query.Parse(fmt.Sprintf("search=%s&page=%d&per_page=13", raw, page), with.Fields())
			if err != nil {
				t.Fatal(err)
			}
			got, total, err := with.find(newSteps(t.Context()), q)
			if err != nil {
				t.Fatal(err)
			}
			want, wantTotal, err := without.find(newSteps(t.Context()), q)
			if err != nil {
				t.Fatal(err)
			}
			if total != wantTotal || !slices.Equal(got, want) {
				t.Errorf("%s, page %d: %d records, %v; want %d, %v", raw, page, total, got, wantTotal, want)
			}
			c, err := with.words.find(newSteps(t.Context()), q.Search.Clauses[0])
			if err != nil {
				t.Fatal(err)
			}
			used[c.in]++
		}
	}
	return used
}

func TestPairRules(t *testing.T) {
	t.Parallel()
	const records = 100
	found := []uint32{1, 100, 10, 0, 100, 50}
	tests := map[string]struct {
		rules pairRules
		want  []commonWord
	}{
		"too few records": {pairRules{from: 101, share: 1, most: 8}, nil},
		"only what is everywhere": {
			pairRules{from: 100, share: 1, most: 8},
			[]commonWord{{1, 100, 2}, {4, 100, 2}},
		},
		"a share": {
			pairRules{share: 10, most: 8},
			[]commonWord{{1, 100, 4}, {4, 100, 4}, {5, 50, 3}, {2, 10, 2}},
		},
		"no more than twelve pairs": {
			pairRules{share: 10, most: 1},
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
