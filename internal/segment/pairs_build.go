package segment

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
)

// pairRules say which pairs of words are kept.
type pairRules struct {
	from  int // records that a file must have to get any: in fewer, looking at all candidates takes no time
	share int // one in so many records would have both words, if they had nothing to do with each other; or more do
	most  int // there are at most so many pairs for eight records
}

func defaultPairRules() pairRules { return pairRules{from: 1 << 12, share: 1 << 10, most: 1} }

// commonWord is a word that has pairs.
type commonWord struct {
	id      uint32
	records uint32 // that have it
	seconds int    // the words it makes pairs with, when it is the first: so many of the most frequent ones
}

// common returns the words that have pairs, the most frequent first. found is in how many records each word stands.
func (p pairRules) common(found []uint32, records int) []commonWord {
	if records < p.from {
		return nil
	}
	most := uint64(0)
	for _, n := range found {
		most = max(most, uint64(n))
	}
	// least is what the numbers of records of two words must give when multiplied.
	for least := max(uint64(records)*uint64(records)/uint64(p.share), 1); ; least *= 2 {
		var words []commonWord
		for id, n := range found {
			if uint64(n)*most >= least {
				words = append(words, commonWord{id: uint32(id), records: n})
			}
		}
		slices.SortFunc(words, func(a, b commonWord) int {
			return cmp.Or(cmp.Compare(b.records, a.records), cmp.Compare(a.id, b.id))
		})
		all, seconds := 0, len(words)
		for i, w := range words {
			for seconds > 0 && uint64(w.records)*uint64(words[seconds-1].records) < least {
				seconds--
			}
			words[i].seconds = seconds
			all += seconds
		}
		if all <= records*p.most/8 {
			return words
		}
	}
}

// pairsBuilder gathers the records of pairs of words. It is nil where there are none to keep.
type pairsBuilder struct {
	head   []byte
	words  []commonWord
	ranks  []uint32 // of each word its place among the frequent ones, from 1; 0: it has none
	firsts []uint32 // of each frequent word the number of its first pair
	before uint32   // rank of the word before, 0: there is none
	pairs  *inverted
}

// newPairs returns a builder. Found is in how many records each word stands.
func (b *wordsBuilder) newPairs(found []uint32) *pairsBuilder {
	words := b.extras.pairs.common(found, int(b.records))
	if len(words) == 0 {
		return nil
	}
	pb := &pairsBuilder{words: words, ranks: make([]uint32, len(found)), firsts: make([]uint32, len(words))}
	all := uint32(0)
	for i, c := range words {
		pb.ranks[c.id], pb.firsts[i] = uint32(i+1), all
		pb.head = binary.LittleEndian.AppendUint32(pb.head, c.id)
		pb.head = binary.LittleEndian.AppendUint32(pb.head, all)
		all += uint32(c.seconds)
	}
	pb.pairs = newInverted(b.shop, b.memory/4) // fields are sorted at the same time
	pb.pairs.numbers = int(all)
	return pb
}

// add takes a word as it stands in the forward index, where fields are apart.
func (b *pairsBuilder) add(record, word uint32) {
	if b == nil {
		return
	}
	rank := uint32(0)
	if word > 0 {
		rank = b.ranks[word-1]
	}
	if b.before > 0 && rank > 0 && int(rank) <= b.words[b.before-1].seconds {
		b.pairs.add(b.firsts[b.before-1]+rank-1, record)
	}
	b.before = rank
}

// next comes behind each record.
func (b *pairsBuilder) next() error {
	if b == nil {
		return nil
	}
	return b.pairs.spillIfFull()
}

// writeTo writes the sections.
func (b *pairsBuilder) writeTo(ctx context.Context, w *fileWriter) error {
	if b == nil {
		return nil
	}
	sets, twice, _, err := b.pairs.sets(ctx)
	if err != nil {
		return err
	}
	if err := w.section(tagCommon, noField, b.head); err != nil {
		return err
	}
	if err := sets.writeTo(w, tagPairs, noField); err != nil {
		return err
	}
	return twice.writeTo(w, tagPairsTwice, noField)
}
