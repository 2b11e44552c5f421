package segment

import (
	"cmp"
	"context"
	"encoding/binary"
	"io"
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

// writePairs writes the pairs of words, which it finds in the words of the records. found is in how many records each word
// stands; it is not needed any more and changed.
func (b *wordsBuilder) writePairs(ctx context.Context, w *fileWriter, found []uint32) error {
	words := b.extras.pairs.common(found, int(b.records))
	if len(words) == 0 {
		return nil
	}
	clear(found)
	ranks, firsts := found, make([]uint32, len(words)) // ranks: of each word its place among the frequent ones, from 1
	var head []byte
	all := uint32(0)
	for i, c := range words {
		ranks[c.id], firsts[i] = uint32(i+1), all
		head = binary.LittleEndian.AppendUint32(head, c.id)
		head = binary.LittleEndian.AppendUint32(head, all)
		all += uint32(c.seconds)
	}
	pairs := newInverted(b.shop, b.memory/4) // fields are sorted at the same time
	pairs.numbers = int(all)
	err := b.eachWord(ctx, func() func(record, word uint32) {
		before := uint32(0) // rank of the word before, 0: there is none
		return func(record, word uint32) {
			rank := uint32(0)
			if word > 0 {
				rank = ranks[word-1]
			}
			if before > 0 && rank > 0 && int(rank) <= words[before-1].seconds {
				pairs.add(firsts[before-1]+rank-1, record)
			}
			before = rank
		}
	}(), pairs.spillIfFull)
	if err != nil {
		return err
	}
	sets, twice, _, err := pairs.sets(ctx)
	if err != nil {
		return err
	}
	if err := w.section(tagCommon, noField, head); err != nil {
		return err
	}
	if err := sets.writeTo(w, tagPairs, noField); err != nil {
		return err
	}
	return twice.writeTo(w, tagPairsTwice, noField)
}

// eachWord calls f with the words of all records as they stand in the forward index, the number + 1 of each or a 0 behind
// a field, and now and then, between two records, pause.
func (b *wordsBuilder) eachWord(ctx context.Context, f func(record, word uint32), pause func() error) error {
	r, err := b.forward.reader()
	if err != nil {
		return err
	}
	buf := make([]byte, 1<<16)
	record, word, shift, fields := uint32(0), uint32(0), 0, 0
	for {
		n, err := r.Read(buf)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, c := range buf[:n] {
			word |= uint32(c&0x7f) << shift
			if shift += 7; c >= 0x80 {
				continue
			}
			f(record, word)
			if word == 0 {
				if fields++; fields == b.fields {
					fields = 0
					record++
					if err := pause(); err != nil {
						return err
					}
				}
			}
			word, shift = 0, 0
		}
	}
}
