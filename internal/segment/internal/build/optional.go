package build

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sync/errgroup"

	"herbarium/internal/segment/internal/file"
)

// OptionalIndexes determines which optional indexes a file gets. These accelerate searches for words, and sorted listings of
// values, that occur in many records.
type OptionalIndexes struct {
	MinRecords  int // minimum number of records of a file with optional indexes: with fewer, examining all matches is fast
	Bigrams     BigramRules
	Prefixes    PrefixRules
	Fields      FieldRules
	BlockCounts BlockCountRules
}

// DefaultIndexes returns the rules of docs/format/segment.md.
func DefaultIndexes() OptionalIndexes {
	return OptionalIndexes{
		MinRecords:  1 << 12,
		Bigrams:     BigramRules{Share: 1 << 10, MaxPerEight: 1},
		Prefixes:    PrefixRules{Share: 1 << 5, Max: 1 << 10, Room: 2},
		Fields:      FieldRules{Share: 1 << 5, Max: 1 << 12},
		BlockCounts: BlockCountRules{Share: 1 << 8, Max: 1 << 9, MaxPairs: 1 << 13},
	}
}

// optionalIndex collects the postings of an optional index.
type optionalIndex struct {
	add      func(record uint32, words []uint32) // adds a record; see wordsBatch
	encode   func() []section                    // encodes the postings after the last record
	sections []section                           // encoded
}

// addBatch adds records.
func (x *optionalIndex) addBatch(batch *wordsBatch) {
	start := 0
	for i, end := range batch.ends {
		x.add(batch.first+uint32(i), batch.words[start:end])
		start = end
	}
}

// writeOptionalIndexes builds the optional indexes concurrently, in one pass over the words of all records, and writes them.
// order contains the terms in sorted order; common is the length of the common prefix of each with the one before it;
// docFreqs is the document frequency by term number.
func (b *wordsBuilder) writeOptionalIndexes(w *file.Writer, order []uint32, common []uint16, docFreqs []uint32) {
	sorted := make([]uint32, len(order)) // document frequency by sorted term
	for i, id := range order {
		sorted[i] = docFreqs[id]
	}
	prefixes := b.optional.Prefixes.choose(common, sorted, int(b.records))
	indexes := slices.DeleteFunc([]*optionalIndex{
		b.newPrefixPostings(order, prefixes), b.newFieldPostings(order, prefixes, sorted), b.newBigrams(docFreqs),
	}, func(x *optionalIndex) bool { return x == nil })
	if len(indexes) == 0 {
		return
	}
	concurrently := func(do func(*optionalIndex)) {
		var group errgroup.Group
		for _, x := range indexes {
			b.tmp.start(&group, func() { do(x) })
		}
		check(group.Wait())
	}
	b.eachBatch(func(batch *wordsBatch) {
		concurrently(func(x *optionalIndex) { x.addBatch(batch) })
	})
	concurrently(func(x *optionalIndex) { x.sections = x.encode() })
	for _, x := range indexes {
		writeSections(w, file.NoField, x.sections...)
	}
}

// wordsBatch contains the entries of consecutive records in the forward index: term numbers + 1, and 0 after each part.
type wordsBatch struct {
	first uint32 // record
	words []uint32
	ends  []int // of the entries of each record
}

// wordsBatchSize is the size of a batch in the forward index.
type wordsBatchSize struct{ records, bytes int }

// eachBatch calls f for all records. The batch is only valid until f returns.
func (b *wordsBuilder) eachBatch(f func(*wordsBatch)) {
	r := b.forward.reader()
	var batch wordsBatch
	for _, size := range b.batches {
		b.tmp.checkContext()
		batch.words, batch.ends = batch.words[:0], batch.ends[:0]
		parts := 0
		for data := r.next(size.bytes); len(data) > 0; {
			word, n := binary.Uvarint(data)
			data = data[n:]
			if batch.words = append(batch.words, uint32(word)); word > 0 {
				continue
			}
			if parts++; parts%len(b.parts) == 0 {
				batch.ends = append(batch.ends, len(batch.words))
			}
		}
		f(&batch)
		batch.first += uint32(size.records)
	}
}
