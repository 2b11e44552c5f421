package fulltext

import (
	"fmt"
	"sort"

	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
)

// prefixPostings contains the postings of frequent term prefixes: the union of the postings of all terms with the
// prefix, which would otherwise be computed for every search. Small files have none.
type prefixPostings struct {
	postingsTable
	ranges file.U32s // by prefix, sorted: the index in TERM of its first term, and of the first term after its last
}

func openPrefixPostings(f *file.File) (p prefixPostings, err error) {
	p.ranges = f.Section(file.TagPrefixRanges, file.NoField)
	p.postingsTable, err = openPostings(f, file.TagPrefixDocs, file.TagPrefixFreqs)
	if err == nil && p.ranges.Len() != 2*p.docs.Len() {
		err = fmt.Errorf("%w: prefix postings", guard.ErrCorrupt)
	}
	return p, err
}

// number returns the number of the prefix shared by exactly the terms in [from, to), if the file has its postings.
func (b *prefixPostings) number(from, to int) (int, bool) {
	i := sort.Search(b.docs.Len(), func(i int) bool {
		first := int(b.ranges.At(2 * i))
		return first > from || first == from && int(b.ranges.At(2*i+1)) <= to
	})
	return i, i < b.docs.Len() && int(b.ranges.At(2*i)) == from && int(b.ranges.At(2*i+1)) == to
}
