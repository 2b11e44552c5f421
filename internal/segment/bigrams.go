package segment

import "fmt"

// bigrams contains the postings of pairs of adjacent frequent terms. Without them, a phrase would be searched for in
// every record with both terms. Small files have none.
type bigrams struct {
	postingsTable
	common u32s // by frequent term, most frequent first: its number, and the number of its first bigram
}

func (p *bigrams) open(r *Reader) (err error) {
	p.common = r.section(tagBigramTerms, noField)
	if p.docs, err = openSets(r.section(tagBigramDocs, noField), r.meta.Records); err != nil {
		return err
	}
	if p.freqs, err = openSets(r.section(tagBigramFreqs, noField), r.meta.Records); err != nil {
		return err
	}
	// There are many, and few are ever used, so do not cache them.
	p.docs.opened, p.freqs.opened = nil, nil
	if p.common.len()%2 != 0 || p.docs.len() != p.freqs.len() || (p.common.len() == 0) != (p.docs.len() == 0) {
		return fmt.Errorf("%w: bigrams", ErrCorrupt)
	}
	return nil
}

// number returns the number of the bigram of two terms, if the file has its postings. The second terms of a first one
// are a prefix of the frequent terms, in their order.
func (p *bigrams) number(first, second uint32) (int, bool) {
	from, to, rank := 0, 0, -1
	for i := 0; i < p.common.len(); i += 2 {
		word := p.common.at(i)
		if word == second {
			rank = i / 2
		}
		if word != first {
			continue
		}
		from, to = int(p.common.at(i+1)), p.docs.len()
		if i+3 < p.common.len() {
			to = int(p.common.at(i + 3))
		}
	}
	return from + rank, rank >= 0 && from+rank < to
}
