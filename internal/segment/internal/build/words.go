package build

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"

	"herbarium/internal/segment/internal/file"
)

// wordsBuilder builds the full-text index of a segment.
type wordsBuilder struct {
	tmp      *tempDir
	memory   int   // bytes for sorting
	weights  []int // of the searchable fields
	parts    int   // number of parts of a record; a field has as many as its weight
	terms    *inverted
	forward  *spillFile
	starts   *spillFile
	lengths  *spillFile
	at       uint64
	batches  []wordsBatchSize // in the forward index
	total    int
	records  uint32
	optional OptionalIndexes

	// Buffers of a batch.
	words, begin, count []byte
}

func newWordsBuilder(tmp *tempDir, weights []int, memory int, optional OptionalIndexes) *wordsBuilder {
	parts := 0
	for _, weight := range weights {
		parts += weight
	}
	return &wordsBuilder{
		tmp:      tmp,
		memory:   memory,
		weights:  weights,
		parts:    parts,
		terms:    newInverted(tmp, memory),
		forward:  tmp.newSpillFile(),
		starts:   tmp.newSpillFile(),
		lengths:  tmp.newSpillFile(),
		optional: optional,
	}
}

// add adds the words of the next records: the parts of each record.
func (b *wordsBuilder) add(words *tokens, records int) error {
	words.assignIDs(&b.terms.dictionary)
	b.words, b.begin, b.count = b.words[:0], b.begin[:0], b.count[:0]
	for range records {
		b.begin = binary.LittleEndian.AppendUint64(b.begin, b.at+uint64(len(b.words)))
		count := 0
		for range b.parts {
			ids := words.next()
			for _, id := range ids {
				b.words = binary.AppendUvarint(b.words, uint64(id)+1)
				b.terms.addPair(id, b.records)
			}
			b.words = append(b.words, 0)
			count += len(ids)
		}
		b.count = binary.LittleEndian.AppendUint32(b.count, uint32(count))
		b.total += count
		b.records++
		if err := b.terms.spillIfFull(); err != nil {
			return err
		}
	}
	b.at += uint64(len(b.words))
	b.batches = append(b.batches, wordsBatchSize{records, len(b.words)})
	if _, err := b.starts.Write(b.begin); err != nil {
		return err
	}
	if _, err := b.lengths.Write(b.count); err != nil {
		return err
	}
	_, err := b.forward.Write(b.words)
	return err
}

// writeTo writes the sections.
func (b *wordsBuilder) writeTo(ctx context.Context, w *file.Writer) error {
	if err := b.terms.finish(); err != nil {
		return err
	}
	order := b.terms.order()
	common, err := b.writeTerms(w, order)
	if err != nil {
		return err
	}
	b.terms.release()
	docs, freqs := newSetTable(b.tmp), newSetTable(b.tmp)
	docFreqs, err := b.terms.encode(ctx, docs, freqs)
	if err != nil {
		return err
	}
	if err := writeSections(w, file.NoField, section{file.TagDocs, docs}, section{file.TagFreqs, freqs}); err != nil {
		return err
	}
	if err := w.Section(file.TagForward, file.NoField, b.forward); err != nil { // read again below
		return err
	}
	end := binary.LittleEndian.AppendUint64(nil, b.at)
	if err := w.Section(file.TagFStarts, file.NoField, b.starts, bytes.NewReader(end)); err != nil {
		return err
	}
	if err := w.Section(file.TagLengths, file.NoField, b.lengths); err != nil {
		return err
	}
	if int(b.records) < b.optional.MinRecords {
		return nil
	}
	if err := b.writeLengthOrder(ctx, w); err != nil {
		return err
	}
	return b.writeOptionalIndexes(ctx, w, order, common, docFreqs)
}

// writeTerms writes the terms in sorted order. It returns the length of the common prefix of each with the one before it.
func (b *wordsBuilder) writeTerms(w *file.Writer, order []uint32) (common []uint16, err error) {
	common = make([]uint16, len(order))
	var before []byte
	names, ids := b.tmp.newSpillFile(), b.tmp.newSpillFile()
	head := file.TableHead{Sizes: make([]uint32, len(order)), Unit: 1}
	for i, id := range order {
		name := b.terms.name(id)
		head.Sizes[i] = uint32(len(name))
		common[i] = uint16(min(commonLength(before, name), math.MaxUint16))
		before = name
		if _, err := names.Write(name); err != nil {
			return nil, err
		}
		if err := ids.writeU32(id); err != nil {
			return nil, err
		}
	}
	if err := w.Section(file.TagTerms, file.NoField, head, names); err != nil {
		return nil, err
	}
	return common, errors.Join(names.remove(), writeSections(w, file.NoField, section{file.TagIDs, ids}))
}

// writeLengthOrder writes the records in the order of their lengths.
func (b *wordsBuilder) writeLengthOrder(ctx context.Context, w *file.Writer) error {
	byLength, record := newInverted(b.tmp, b.memory/8), uint32(0)
	err := b.lengths.eachU32(func(length uint32) error {
		byLength.numbers = max(byLength.numbers, int(length)+1)
		byLength.addPair(length, record)
		record++
		return byLength.spillIfFull()
	})
	if err != nil {
		return err
	}
	if err := byLength.finish(); err != nil {
		return err
	}
	sorted := b.tmp.newSpillFile()
	var p decoder
	err = byLength.runs.merge(ctx, byLength.size(), func(_ int, postings []byte) (err error) {
		p.decode(postings)
		for _, record := range p.records {
			err = cmp.Or(err, sorted.writeU32(record))
		}
		return err
	}, func() error { return nil })
	if err != nil {
		return err
	}
	return writeSections(w, file.NoField, section{file.TagLengthOrder, sorted})
}
