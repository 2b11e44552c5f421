package build

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBigramRules(t *testing.T) {
	t.Parallel()
	const records = 100
	found := []uint32{1, 100, 10, 0, 100, 50}
	tests := map[string]struct {
		rules BigramRules
		want  []frequentTerm
	}{
		"only terms in all records": {
			BigramRules{Share: 1, MaxPerEight: 8},
			[]frequentTerm{{1, 100, 2}, {4, 100, 2}},
		},
		"a share": {
			BigramRules{Share: 10, MaxPerEight: 8},
			[]frequentTerm{{1, 100, 4}, {4, 100, 4}, {5, 50, 3}, {2, 10, 2}},
		},
		"no more than twelve bigrams": {
			BigramRules{Share: 10, MaxPerEight: 1},
			[]frequentTerm{{1, 100, 3}, {4, 100, 3}, {5, 50, 3}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := test.rules.choose(found, records)
			if d := cmp.Diff(test.want, got, cmp.AllowUnexported(frequentTerm{})); d != "" {
				t.Errorf("- want, + got:\n%s", d)
			}
		})
	}
}

func TestPrefixRules(t *testing.T) {
	t.Parallel()
	words := []string{"a", "oak", "oaken", "oaks", "olive", "rose", "éb", "éc", "ê"}
	found := []uint32{100, 40, 30, 20, 10, 90, 8, 8, 8}
	const records = 1600
	common := make([]uint16, len(words))
	for i := range words[1:] {
		common[i+1] = uint16(commonLength([]byte(words[i]), []byte(words[i+1])))
	}
	named := func(all []termPrefix) (out []string) {
		for _, b := range all {
			first, last := words[b.from], words[b.to-1]
			fields := ""
			if b.inFields {
				fields = ", in fields"
			}
			out = append(out, fmt.Sprintf("%s %d %d%s", first[:commonLength([]byte(first), []byte(last))], b.to-b.from,
				b.work, fields))
		}
		return out
	}
	tests := map[string]struct {
		rules PrefixRules
		want  []string
	}{
		"all": {PrefixRules{Share: records, Max: 9, Room: 1, MaxFieldSets: 4},
			[]string{"o 4 100, in fields", "oak 3 90, in fields", "é 2 16"}},
		"a share": {PrefixRules{Share: 17, Max: 9, Room: 1, MaxFieldSets: 4}, []string{"o 4 100, in fields"}},
		"no more than": {PrefixRules{Share: records, Max: 2, Room: 1, MaxFieldSets: 4},
			[]string{"o 4 100, in fields", "oak 3 90, in fields"}},
		"little room": {PrefixRules{Share: records, Max: 9, Room: 2, MaxFieldSets: 4}, []string{"o 4 100, in fields"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(test.want, named(test.rules.choose(common, found, records, 2))); d != "" {
				t.Errorf("- want, + got:\n%s", d)
			}
		})
	}
	if got := (PrefixRules{Share: records, Max: 9, Room: 1, MaxFieldSets: 4}).choose(
		[]uint16{0, 3}, []uint32{records/16 + 1, 2}, records, 1); len(got) != 1 || got[0].work != records/128+2 ||
		got[0].inFields {
		t.Errorf("a word whose postings are bits: %v", got)
	}
}
