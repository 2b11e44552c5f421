package segment

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/query"
)

// TestBeginnings compares searches for beginnings of words in a file that keeps them with those in one that does not, and sees
// that they are used.
func TestBeginnings(t *testing.T) {
	t.Parallel()
	const n = 5000
	with := openWordy(t, n, Extras(Options{}))
	without := openWordy(t, n, Options{extras: extraRules{pairRules{from: math.MaxInt}, beginningRules{from: math.MaxInt}}})
	if with.words.beginnings.found.len() == 0 || without.words.beginnings.found.len() != 0 {
		t.Fatal("one file should keep beginnings, and the other none")
	}
	used := map[*occurrences]int{}
	for _, raw := range []string{
		"a*", "o*", "oa*", "oak*", "e*", "el*", "b*", "i*", "z*", "a*+oak", "o*+e*", "oak+-e*", "%22oak+e*%22", "%22oak+elm+a*%22",
		"-a*", "e*&kind=c", "a*&sort=words",
	} {
		for _, page := range []int{1, 2, 5} {
			q, err := query.Parse(fmt.Sprintf("search=%s&page=%d&per_page=13", raw, page), with.Fields())
			if err != nil {
				continue // a search of exclusions alone, and the like
			}
			got, total, err := with.find(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			want, wantTotal, err := without.find(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if total != wantTotal || !slices.Equal(got, want) {
				t.Errorf("%s, page %d: %d records, %v; want %d, %v", raw, page, total, got, wantTotal, want)
			}
			c, err := with.words.find(q.Search.Clauses[0])
			if err != nil {
				t.Fatal(err)
			}
			used[c.in]++
		}
	}
	if used[&with.words.beginnings.occurrences] < 12 || used[&with.words.occurrences] < 3 {
		t.Errorf("only %d searches found a beginning, %d a word", used[&with.words.beginnings.occurrences], used[&with.words.occurrences])
	}
}

func TestBeginningRules(t *testing.T) {
	t.Parallel()
	words := []string{"a", "oak", "oaken", "oaks", "olive", "rose", "éb", "éc", "ê"}
	found := []uint32{100, 40, 30, 20, 10, 90, 8, 8, 8}
	const records = 1600
	named := func(all []beginning) (out []string) {
		for _, b := range all {
			first, last := words[b.from], words[b.to-1]
			out = append(out, fmt.Sprintf("%s %d %d", first[:commonLength(first, last)], b.to-b.from, b.work))
		}
		return out
	}
	tests := map[string]struct {
		rules beginningRules
		want  []string
	}{
		"all":             {beginningRules{share: records, most: 9, room: 1}, []string{"o 4 100", "oak 3 90", "é 2 16"}},
		"too few records": {beginningRules{from: records + 1, share: records, most: 9, room: 1}, nil},
		"a share":         {beginningRules{share: 17, most: 9, room: 1}, []string{"o 4 100"}},
		"no more than":    {beginningRules{share: records, most: 2, room: 1}, []string{"o 4 100", "oak 3 90"}},
		"little room":     {beginningRules{share: records, most: 9, room: 2}, []string{"o 4 100"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(test.want, named(test.rules.choose(words, found, records))); d != "" {
				t.Errorf("- want, + got:\n%s", d)
			}
		})
	}
	if got := (beginningRules{share: records, most: 9, room: 1}).choose(
		[]string{"oak", "oaks"}, []uint32{records/16 + 1, 2}, records); len(got) != 1 || got[0].work != records/128+2 {
		t.Errorf("a word that is kept as bits: %v", got)
	}
}
