package fulltext

import (
	"sort"

	"herbarium/internal/segment/internal/file"
)

// termRange is a range of adjacent terms in TERM, such as those with a prefix.
type termRange struct{ from, to int }

// storedRanges is a stored list of term ranges, of which any two are nested or disjoint: for each,
// the index of its first term and of the first term after its last. It is sorted by the start; of
// two with the same start, the longer is first.
type storedRanges struct{ file.U32s }

func (r storedRanges) at(i int) termRange { return termRange{int(r.At(2 * i)), int(r.At(2*i + 1))} }

// number returns the number of a range, if it is stored.
func (r storedRanges) number(from, to int) (int, bool) {
	i := sort.Search(r.Len()/2, func(i int) bool {
		x := r.at(i)
		return x.from > from || x.from == from && x.to <= to
	})
	return i, i < r.Len()/2 && r.at(i) == termRange{from, to}
}

// prefixPostings contains the postings of frequent term prefixes: the union of the postings of all
// terms with the prefix, which would otherwise be computed for every search. Small files have none.
type prefixPostings struct {
	postingsTable
	ranges storedRanges
}
