package build

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"herbarium/internal/segment/internal/file"
)

// BigramRules determines which bigrams get postings.
type BigramRules struct {
	Share       int // a bigram is chosen if 1/Share of the records would contain both terms, were they independent
	MaxPerEight int // maximum number of bigrams per eight records
}

// frequentTerm is a term that is the first of some bigrams.
type frequentTerm struct {
	id      uint32
	records uint32 // number of records with the term
	seconds int    // number of its bigrams: with the most frequent terms, in the order of their frequency
}

// choose returns the terms with bigrams, most frequent first. docFreqs is the document frequency by
// term number.
func (p BigramRules) choose(docFreqs []uint32, records int) []frequentTerm {
	most := uint64(0)
	for _, n := range docFreqs {
		most = max(most, uint64(n))
	}
	// least is the minimum product of the numbers of records of both terms. It is doubled until the
	// bigrams are few enough.
	for least := max(uint64(records)*uint64(records)/uint64(p.Share), 1); ; least *= 2 {
		var words []frequentTerm
		for id, n := range docFreqs {
			if uint64(n)*most >= least {
				words = append(words, frequentTerm{id: uint32(id), records: n})
			}
		}
		slices.SortFunc(words, func(a, b frequentTerm) int {
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

// newBigrams returns an index of the bigrams of frequent words, given the number of all terms.
func (b *wordsBuilder) newBigrams(words []frequentTerm, terms int) *frequentIndex {
	if len(words) == 0 {
		return emptyIndex(file.TagBigrams, file.TagBigramPostings, file.TagBigramFrequencies)
	}
	table := newInvertedIndex(b.tmp, b.memory/4) // fields are sorted concurrently
	var head []byte
	// by term number, its position by frequency from 1, or 0 if it has no bigrams
	positions := newTable[uint32](&b.tmp.tables, terms)
	firsts := make([]uint32, len(words)) // by frequent term, the number of its first bigram
	for i, c := range words {
		positions[c.id], firsts[i] = uint32(i+1), uint32(table.numbers)
		head = binary.LittleEndian.AppendUint32(head, c.id)
		head = binary.LittleEndian.AppendUint32(head, firsts[i])
		table.numbers += c.seconds
	}
	return &frequentIndex{
		add: func(record uint32, ids []uint32) {
			before := uint32(0) // position of the preceding term, or 0
			for _, word := range ids {
				if word == 0 {
					before = 0
					continue
				}
				position := positions[word-1]
				if before > 0 && position > 0 && int(position) <= words[before-1].seconds {
					table.addPair(firsts[before-1]+position-1, record, 0)
				}
				before = position
			}
			table.spillIfFull(record + 1)
		},
		encode: func() ([]section, error) {
			table.finish()
			docs, freqs := newSetTable(b.tmp), newSetTable(b.tmp)
			_, err := table.encode(docs, freqs)
			return []section{{file.TagBigrams, bytes.NewReader(head)}, {file.TagBigramPostings, docs},
				{file.TagBigramFrequencies, freqs}}, err
		},
	}
}
