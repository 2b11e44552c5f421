package segment

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPrefixPostings compares prefix searches in files with and without prefix postings, and checks that these are
// used.
func TestPrefixPostings(t *testing.T) {
	t.Parallel()
	with, without := withAndWithoutOptionalIndexes(t)
	used := compareSearches(t, with, without,
		"a*", "o*", "oa*", "oak*", "e*", "el*", "b*", "i*", "z*", "a*+oak", "b*+e*", "oak+-b*", "oak-b*", "oak-elm-a*", "%22oak+b*%22",
		"b*+-oak", "-b*", "a*&kind=c",
	)
	if begun, words := used[&with.words.prefixes.postingsTable], used[&with.words.postingsTable]; begun < 12 || words < 12 {
		t.Errorf("only %d searches used prefix postings, %d those of a term", begun, words)
	}
}

func TestPrefixRules(t *testing.T) {
	t.Parallel()
	words := []string{"a", "oak", "oaken", "oaks", "olive", "rose", "éb", "éc", "ê"}
	found := []uint32{100, 40, 30, 20, 10, 90, 8, 8, 8}
	const records = 1600
	named := func(all []termPrefix) (out []string) {
		for _, b := range all {
			first, last := words[b.from], words[b.to-1]
			out = append(out, fmt.Sprintf("%s %d %d", first[:commonLength(first, last)], b.to-b.from, b.work))
		}
		return out
	}
	tests := map[string]struct {
		rules prefixRules
		want  []string
	}{
		"all":             {prefixRules{share: records, most: 9, room: 1}, []string{"o 4 100", "oak 3 90", "é 2 16"}},
		"too few records": {prefixRules{from: records + 1, share: records, most: 9, room: 1}, nil},
		"a share":         {prefixRules{share: 17, most: 9, room: 1}, []string{"o 4 100"}},
		"no more than":    {prefixRules{share: records, most: 2, room: 1}, []string{"o 4 100", "oak 3 90"}},
		"little room":     {prefixRules{share: records, most: 9, room: 2}, []string{"o 4 100"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(test.want, named(test.rules.choose(words, found, records))); d != "" {
				t.Errorf("- want, + got:\n%s", d)
			}
		})
	}
	if got := (prefixRules{share: records, most: 9, room: 1}).choose(
		[]string{"oak", "oaks"}, []uint32{records/16 + 1, 2}, records); len(got) != 1 || got[0].work != records/128+2 {
		t.Errorf("a word that is kept as bits: %v", got)
	}
}
