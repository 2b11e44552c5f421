package segment

import (
	"fmt"
	"sort"
)

// prefixPostings contains the postings of frequent term prefixes: the union of the postings of all terms with the
// prefix, which would otherwise be computed for every search. Small files have none.
type prefixPostings struct {
	postingsTable
	ranges u32s // by prefix, sorted: the index in TERM of its first term, and of the first term after its last
}

func (b *prefixPostings) open(r *Reader) (err error) {
	b.ranges = r.section(tagPrefixRanges, noField)
	if b.docs, err = openSets(r.section(tagPrefixDocs, noField), r.meta.Records); err != nil {
		return err
	}
	if b.freqs, err = openSets(r.section(tagPrefixFreqs, noField), r.meta.Records); err != nil {
		return err
	}
	if b.ranges.len() != 2*b.docs.len() || b.docs.len() != b.freqs.len() {
		return fmt.Errorf("%w: prefix postings", ErrCorrupt)
	}
	return nil
}

// number returns the number of the prefix shared by exactly the terms in [from, to), if the file has its postings.
func (b *prefixPostings) number(from, to int) (int, bool) {
	i := sort.Search(b.docs.len(), func(i int) bool {
		first := int(b.ranges.at(2 * i))
		return first > from || first == from && int(b.ranges.at(2*i+1)) <= to
	})
	return i, i < b.docs.len() && int(b.ranges.at(2*i)) == from && int(b.ranges.at(2*i+1)) == to
}
