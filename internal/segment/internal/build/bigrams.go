package build

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"herbarium/internal/segment/internal/file"
)

// BigramRules determines which bigrams get postings.
type BigramRules struct {
	MinRecords  int // minimum number of records of a file: with fewer, examining all candidates is fast
	Share       int // both terms would occur in one in so many records or more if they were independent
	MaxPerEight int // maximum number of bigrams per eight records
}

// commonWord is a term that is the first of some bigrams.
type commonWord struct {
	id      uint32
	records uint32 // number of records with the term
	seconds int    // number of second terms: a prefix of the frequent terms
}

// common returns the terms with bigrams, most frequent first. found is the number of records by term number.
func (p BigramRules) common(found []uint32, records int) []commonWord {
	if records < p.MinRecords {
		return nil
	}
	most := uint64(0)
	for _, n := range found {
		most = max(most, uint64(n))
	}
	// least is the minimum product of the numbers of records of both terms.
	for least := max(uint64(records)*uint64(records)/uint64(p.Share), 1); ; least *= 2 {
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
		if all <= records*p.MaxPerEight/8 {
			return words
		}
	}
}

// bigramsBuilder collects the postings of bigrams. It is nil if there are none.
type bigramsBuilder struct {
	head   []byte
	words  []commonWord
	ranks  []uint32 // by term number, its rank by frequency from 1, or 0 if it has no bigrams
	firsts []uint32 // by frequent term, the number of its first bigram
	before uint32   // rank of the preceding term, or 0
	table  *inverted
}

// newBigrams returns a builder. found is the number of records by term number.
func (b *wordsBuilder) newBigrams(found []uint32) *bigramsBuilder {
	words := b.optional.Bigrams.common(found, int(b.records))
	if len(words) == 0 {
		return nil
	}
	pb := &bigramsBuilder{words: words, ranks: make([]uint32, len(found)), firsts: make([]uint32, len(words))}
	all := uint32(0)
	for i, c := range words {
		pb.ranks[c.id], pb.firsts[i] = uint32(i+1), all
		pb.head = binary.LittleEndian.AppendUint32(pb.head, c.id)
		pb.head = binary.LittleEndian.AppendUint32(pb.head, all)
		all += uint32(c.seconds)
	}
	pb.table = newInverted(b.tmp, b.memory/4) // fields are sorted concurrently
	pb.table.numbers = int(all)
	return pb
}

// add adds a word of the forward index, in which 0 separates fields.
func (b *bigramsBuilder) add(record, word uint32) {
	if b == nil {
		return
	}
	rank := uint32(0)
	if word > 0 {
		rank = b.ranks[word-1]
	}
	if b.before > 0 && rank > 0 && int(rank) <= b.words[b.before-1].seconds {
		b.table.add(b.firsts[b.before-1]+rank-1, record)
	}
	b.before = rank
}

// next ends a record.
func (b *bigramsBuilder) next() error {
	if b == nil {
		return nil
	}
	return b.table.spillIfFull()
}

// writeTo writes the sections.
func (b *bigramsBuilder) writeTo(ctx context.Context, w *file.Writer) error {
	if b == nil {
		return nil
	}
	postings, err := b.table.postings(ctx)
	if err != nil {
		return err
	}
	if err := w.Section(file.TagBigramTerms, file.NoField, bytes.NewReader(b.head)); err != nil {
		return err
	}
	return postings.writeTo(w, file.TagBigramDocs, file.TagBigramFreqs)
}
