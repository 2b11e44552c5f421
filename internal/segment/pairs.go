package segment

import "fmt"

// pairs are the records in which two frequent words stand one behind the other: a phrase of them would else be looked for
// in every record that has both. Files of few records have none.
type pairs struct {
	occurrences
	common u32s // of each frequent word, the most frequent first: its number, and the number of its first pair
}

func (p *pairs) open(r *Reader) (err error) {
	p.common = r.section(tagCommon, noField)
	if p.found, err = openSets(r.section(tagPairs, noField), r.meta.Records); err != nil {
		return err
	}
	if p.twice, err = openSets(r.section(tagPairsTwice, noField), r.meta.Records); err != nil {
		return err
	}
	// There are many, and few of them are ever asked for.
	p.found.opened, p.twice.opened = nil, nil
	if p.common.len()%2 != 0 || p.found.len() != p.twice.len() || (p.common.len() == 0) != (p.found.len() == 0) {
		return fmt.Errorf("%w: pairs of words", ErrCorrupt)
	}
	return nil
}

// number returns the number of the pair of two words, if the file knows whether it stands anywhere. The second words of a
// first one are the most frequent ones, up to some, in their order.
func (p *pairs) number(first, second uint32) (int, bool) {
	from, to, rank := 0, 0, -1
	for i := 0; i < p.common.len(); i += 2 {
		word := p.common.at(i)
		if word == second {
			rank = i / 2
		}
		if word != first {
			continue
		}
		from, to = int(p.common.at(i+1)), p.found.len()
		if i+3 < p.common.len() {
			to = int(p.common.at(i + 3))
		}
	}
	return from + rank, rank >= 0 && from+rank < to
}
