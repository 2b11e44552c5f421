package column

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// spelling is one of the different texts of a run and the number of records that have it.
type spelling struct {
	text  string
	count int
}

// bytesPerSpelling is the memory for a spelling in a map.
const bytesPerSpelling = 64

// spellings returns the different texts of a non-uniform run among the matches, in the order of
// their value keys: the one whose key is not ambiguous, if there is one, and then by their bytes.
func (o *sortedResult) spellings(run int) (all []spelling) {
	counts := map[string]int{}
	from, to := o.run(run)
	for p := from; p < to; p++ {
		o.steps.Add(1)
		if rec := o.sorted.At(p); o.set == nil || o.set.Has(rec) {
			value := o.readValue(o.steps, rec)
			if counts[value] == 0 {
				o.steps.Reserve(bytesPerSpelling + len(value))
			}
			counts[value]++
		}
	}
	ambiguous := func(text string) int {
		if KeyIsAmbiguous(o.Field.Type, []byte(text)) {
			return 1
		}
		return 0
	}
	for _, text := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		o.steps.Add(1)
		return cmp.Or(cmp.Compare(ambiguous(a), ambiguous(b)), strings.Compare(a, b))
	}) {
		all = append(all, spelling{text, counts[text]})
	}
	return all
}
