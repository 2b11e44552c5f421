package fulltext

import (
	"sort"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
)

// termRange is a range of adjacent terms in TERM, such as those with a prefix.
type termRange struct{ from, to int }

// storedRanges is a stored list of term ranges, of which any two are nested or disjoint: for each,
// the index of its first term and of the first term after its last. It is sorted by the start; of
// two with the same start, the longer is first.
type storedRanges struct{ file.U32s }

func (r storedRanges) at(i int) termRange { return termRange{int(r.At(2 * i)), int(r.At(2*i + 1))} }

// search returns the index of the first range that starts at from and ends at to or before, or that
// starts later.
func (r storedRanges) search(from, to int) int {
	return sort.Search(r.Len()/2, func(i int) bool {
		x := r.at(i)
		return x.from > from || x.from == from && x.to <= to
	})
}

func (r storedRanges) number(from, to int) (int, bool) {
	i := r.search(from, to)
	return i, i < r.Len()/2 && r.at(i) == termRange{from, to}
}

// prefixPostings contains the postings of frequent term prefixes: the union of the postings of all
// terms with the prefix, which would otherwise be computed for every search. Small files have none.
type prefixPostings struct {
	postingsTable
	ranges storedRanges
}

// fieldPostings contains the postings of frequent terms and prefixes in each searchable field.
// Without them, every record that contains the term in any field would be examined. Small files
// have none.
type fieldPostings struct {
	docs   bitmap.Table // by range and searchable field
	ranges storedRanges
}

// splitTerms divides a range of terms into stored ranges, of which it returns the sets of a field,
// and the rest.
func (w *Index) splitTerms(r termRange, field int) (sets []bitmap.EncodedSet, rest []termRange) {
	p := &w.fieldPostings
	for r.from < r.to {
		i := p.ranges.search(r.from, r.to)
		next := r.to
		if i < p.ranges.Len()/2 {
			next = min(p.ranges.at(i).from, r.to)
		}
		if next > r.from {
			rest = append(rest, termRange{r.from, next})
			r.from = next
			continue
		}
		if r.from = p.ranges.at(i).to; r.from <= next {
			guard.Corrupt("a range of terms is empty")
		}
		sets = append(sets, p.docs.Set(i*w.searchable+field))
	}
	return sets, rest
}
