package segment

import (
	"fmt"
	"sort"
)

// beginnings are the records that have any of the words that begin alike, for the beginnings that many records have: else the
// records of each of those words would be put together for every search. Files of few records have none.
type beginnings struct {
	occurrences
	ranges u32s // of each, in their order: the place of the first of its words in TERM, and of the first that is not
}

func (b *beginnings) open(r *Reader) (err error) {
	b.ranges = r.section(tagBegin, noField)
	if b.found, err = openSets(r.section(tagBegun, noField), r.meta.Records); err != nil {
		return err
	}
	if b.twice, err = openSets(r.section(tagBegunTwice, noField), r.meta.Records); err != nil {
		return err
	}
	if b.ranges.len() != 2*b.found.len() || b.found.len() != b.twice.len() {
		return fmt.Errorf("%w: beginnings of words", ErrCorrupt)
	}
	return nil
}

// number returns the number of the beginning that the words from up to to have in common, and no others, if the file has it.
func (b *beginnings) number(from, to int) (int, bool) {
	i := sort.Search(b.found.len(), func(i int) bool {
		first := int(b.ranges.at(2 * i))
		return first > from || first == from && int(b.ranges.at(2*i+1)) <= to
	})
	return i, i < b.found.len() && int(b.ranges.at(2*i)) == from && int(b.ranges.at(2*i+1)) == to
}
