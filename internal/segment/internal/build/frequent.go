package build

import (
	"bytes"
	"encoding/binary"
	"slices"

	"golang.org/x/sync/errgroup"

	"herbarium/internal/segment/internal/file"
)

// IndexRules determines the content of the indexes of frequent words. These accelerate searches for
// words that occur in many records.
type IndexRules struct {
	MinRecords int // with fewer records, examining all matches is fast, and these indexes are empty
	Bigrams    BigramRules
	Prefixes   PrefixRules
}

// DefaultIndexes returns the rules of docs/format/segment.md.
func DefaultIndexes() IndexRules {
	return IndexRules{
		MinRecords: 1 << 12,
		Bigrams:    BigramRules{Share: 1 << 10, MaxPerEight: 1},
		Prefixes:   PrefixRules{Share: 1 << 5, Max: 1 << 10, Room: 2, MaxFieldSets: 1 << 12},
	}
}

// frequentIndex collects the postings of frequent prefixes or bigrams.
type frequentIndex struct {
	add      func(record uint32, words []uint32) // adds a record; see wordsBatch
	encode   func() ([]section, error)           // encodes the postings after the last record
	sections []section                           // encoded
}

// emptyIndex returns an index without postings: its sections are empty.
func emptyIndex(tags ...file.Tag) *frequentIndex {
	x := &frequentIndex{}
	for _, t := range tags {
		x.sections = append(x.sections, section{t, bytes.NewReader(nil)})
	}
	return x
}

// addBatch adds records. Spill files keep their errors until encode reads them.
func (x *frequentIndex) addBatch(batch *wordsBatch) {
	start := 0
	for i, end := range batch.ends {
		x.add(batch.first+uint32(i), batch.words[start:end])
		start = end
	}
}

// writeFrequentIndexes builds the indexes of frequent words concurrently, in one pass over the
// words of all records, and writes them. order contains the terms in sorted order; common is the
// length of the common prefix of each with the one before it; docFreqs is the document frequency by
// term number.
func (b *wordsBuilder) writeFrequentIndexes(w *file.Writer, order []uint32, common []uint16, docFreqs []uint32) error {
	sorted := newTable[uint32](&b.tmp.tables, len(order)) // document frequency by sorted term
	for i, id := range order {
		sorted[i] = docFreqs[id]
	}
	indexes := b.newFrequentIndexes(order, common, docFreqs, sorted)
	filled := slices.DeleteFunc(slices.Clone(indexes), func(x *frequentIndex) bool { return x.add == nil })
	concurrently := func(do func(*frequentIndex) error) error {
		var group errgroup.Group
		for _, x := range filled {
			b.tmp.start(&group, func() error { return do(x) })
		}
		return group.Wait()
	}
	if len(filled) > 0 {
		add := func(batch *wordsBatch) error {
			return concurrently(func(x *frequentIndex) error { x.addBatch(batch); return nil })
		}
		if err := b.eachBatch(add); err != nil {
			return err
		}
	}
	encode := func(x *frequentIndex) (err error) { x.sections, err = x.encode(); return err }
	if err := concurrently(encode); err != nil {
		return err
	}
	for _, x := range indexes {
		if err := writeSections(w, file.NoField, x.sections...); err != nil {
			return err
		}
	}
	return nil
}

// newFrequentIndexes returns the indexes of frequent words. They are empty in small files. sorted
// is the document frequency by sorted term; the others are as in writeFrequentIndexes.
func (b *wordsBuilder) newFrequentIndexes(order []uint32, common []uint16, docFreqs, sorted []uint32) []*frequentIndex {
	rules, records := b.rules, int(b.records)
	var prefixes []termPrefix
	var words []frequentTerm
	if records >= rules.MinRecords {
		prefixes = rules.Prefixes.choose(common, sorted, records, b.searchable)
		words = rules.Bigrams.choose(docFreqs, records)
	}
	return []*frequentIndex{b.newPrefixPostings(order, prefixes), b.newBigrams(words, len(docFreqs))}
}

// wordsBatch contains the words of consecutive records in the forward index: term numbers + 1,
// and 0 after each copy of a field.
type wordsBatch struct {
	first uint32 // record
	words []uint32
	ends  []int // of the words of each record
}

// wordsBatchSize is the size of a batch in the forward index.
type wordsBatchSize struct{ records, bytes int }

// eachBatch calls f for all records. The batch is only valid until f returns.
func (b *wordsBuilder) eachBatch(f func(*wordsBatch) error) error {
	r := b.forward.reader()
	var batch wordsBatch
	for _, size := range b.batches {
		if err := b.tmp.err(); err != nil {
			return err
		}
		data, err := r.next(size.bytes)
		if err != nil {
			return err
		}
		batch.words, batch.ends = batch.words[:0], batch.ends[:0]
		copies := 0
		for len(data) > 0 {
			word, n := binary.Uvarint(data)
			data = data[n:]
			batch.words = append(batch.words, uint32(word))
			if word > 0 {
				continue
			}
			copies++
			if copies%len(b.copies) == 0 {
				batch.ends = append(batch.ends, len(batch.words))
			}
		}
		if err := f(&batch); err != nil {
			return err
		}
		batch.first += uint32(size.records)
	}
	return nil
}
