package build

import (
	"bytes"
	"context"
	"slices"

	"herbarium/internal/segment/internal/file"
)

// OptionalIndexes determines which optional indexes a file gets. These accelerate searches for words, and sorted listings of
// values, that occur in many records.
type OptionalIndexes struct {
	MinRecords  int // minimum number of records of a file with optional indexes: with fewer, examining all matches is fast
	Bigrams     BigramRules
	Prefixes    PrefixRules
	FieldShare  int // see chooseFieldRanges
	BlockCounts BlockCountRules
}

// DefaultIndexes returns the rules of docs/format/segment.md.
func DefaultIndexes() OptionalIndexes {
	return OptionalIndexes{
		MinRecords:  1 << 12,
		Bigrams:     BigramRules{Share: 1 << 10, MaxPerEight: 1},
		Prefixes:    PrefixRules{Share: 1 << 5, Max: 1 << 10, Room: 2},
		FieldShare:  1 << 5,
		BlockCounts: BlockCountRules{Share: 1 << 8, Max: 1 << 9},
	}
}

// optionalIndex collects the postings of an optional index.
type optionalIndex struct {
	add   func(record uint32, words []uint32) // adds a record; see eachRecord
	table *inverted
	head  []byte     // describes the entries of the table
	tags  []file.Tag // of the head, the postings and, if there are any, the term-frequency postings
}

// writeTo writes the head and the postings.
func (x *optionalIndex) writeTo(ctx context.Context, w *file.Writer) error {
	if err := x.table.finish(); err != nil {
		return err
	}
	if err := w.Section(x.tags[0], file.NoField, bytes.NewReader(x.head)); err != nil {
		return err
	}
	_, err := x.table.writeTo(ctx, w, x.tags[1:]...)
	return err
}

// writeOptionalIndexes writes the optional indexes in one pass over the words of all records. order contains the terms in
// sorted order; common is the length of the common prefix of each with the one before it; docFreqs is the document
// frequency by term number.
func (b *wordsBuilder) writeOptionalIndexes(ctx context.Context, w *file.Writer, order []uint32, common []uint16, docFreqs []uint32) error {
	sorted := make([]uint32, len(order)) // document frequency by sorted term
	for i, id := range order {
		sorted[i] = docFreqs[id]
	}
	prefixes := b.optional.Prefixes.choose(common, sorted, int(b.records))
	indexes := slices.DeleteFunc([]*optionalIndex{
		b.newPrefixPostings(order, prefixes), b.newFieldPostings(order, prefixes, sorted), b.newBigrams(docFreqs),
	}, func(x *optionalIndex) bool { return x == nil })
	if len(indexes) == 0 {
		return nil
	}
	err := b.eachRecord(ctx, func(record uint32, words []uint32) error {
		for _, x := range indexes {
			x.add(record, words)
			if err := x.table.spillIfFull(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, x := range indexes {
		if err := x.writeTo(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// eachRecord calls f for each record with its entries of the forward index: term numbers + 1, and 0 after each part.
func (b *wordsBuilder) eachRecord(ctx context.Context, f func(record uint32, words []uint32) error) error {
	r, err := b.forward.reader()
	if err != nil {
		return err
	}
	var words []uint32
	for record := range b.records {
		if record%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		words = words[:0]
		for parts := 0; parts < b.parts; {
			word, err := r.uvarint()
			if err != nil {
				return err
			}
			if words = append(words, uint32(word)); word == 0 {
				parts++
			}
		}
		if err := f(record, words); err != nil {
			return err
		}
	}
	return nil
}
