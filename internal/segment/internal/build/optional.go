package build

import (
	"bytes"
	"context"
	"io"
	"slices"

	"herbarium/internal/segment/internal/file"
)

// OptionalIndexes determines which optional indexes a file gets. These accelerate searches for words that occur in
// many records.
type OptionalIndexes struct {
	Bigrams  BigramRules
	Prefixes PrefixRules
}

// DefaultIndexes returns the rules of docs/format/segment.md.
func DefaultIndexes() OptionalIndexes {
	return OptionalIndexes{
		Bigrams:  BigramRules{MinRecords: 1 << 12, Share: 1 << 10, MaxPerEight: 1},
		Prefixes: PrefixRules{MinRecords: 1 << 12, Share: 1 << 5, Max: 1 << 10, Room: 2},
	}
}

// optionalIndex collects the postings of an optional index.
type optionalIndex struct {
	add   func(record, word uint32) // adds an entry of the forward index: a term number + 1, or 0 after a field
	table *inverted
	head  []byte // describes the entries of the table
	tags  [3]file.Tag
}

// writeTo writes the head and the postings.
func (x *optionalIndex) writeTo(ctx context.Context, w *file.Writer) error {
	postings, err := x.table.postings(ctx)
	if err != nil {
		return err
	}
	if err := w.Section(x.tags[0], file.NoField, bytes.NewReader(x.head)); err != nil {
		return err
	}
	return postings.writeTo(w, x.tags[1], x.tags[2])
}

// writeOptionalIndexes writes the optional indexes in one pass over the words of all records. order contains the terms in
// sorted order; docFreqs is the document frequency by term number.
func (b *wordsBuilder) writeOptionalIndexes(ctx context.Context, w *file.Writer, order, docFreqs []uint32) error {
	indexes := slices.DeleteFunc([]*optionalIndex{b.newPrefixPostings(order, docFreqs), b.newBigrams(docFreqs)},
		func(x *optionalIndex) bool { return x == nil })
	if len(indexes) == 0 {
		return nil
	}
	err := b.eachWord(ctx, func(record, word uint32) {
		for _, x := range indexes {
			x.add(record, word)
		}
	}, func() error {
		for _, x := range indexes {
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

// eachWord calls f for each entry of the forward index, the term number + 1 or a 0 after a field, and next after each
// record.
func (b *wordsBuilder) eachWord(ctx context.Context, f func(record, word uint32), next func() error) error {
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
					if err := next(); err != nil {
						return err
					}
				}
			}
			word, shift = 0, 0
		}
	}
}
