package segment

import (
	"context"
	"encoding/binary"
)

// wordsBuilder builds the full-text index of a segment.
type wordsBuilder struct {
	tmp      *tempDir
	memory   int // bytes for sorting
	fields   int // number of searchable fields
	terms    *inverted
	forward  *spillFile
	starts   *spillFile
	lengths  *spillFile
	at       uint64
	total    int
	records  uint32
	optional optionalIndexRules

	// Buffers of a batch.
	words, begin, count []byte
}

func newWordsBuilder(tmp *tempDir, fields, memory int, optional optionalIndexRules) *wordsBuilder {
	return &wordsBuilder{
		tmp:      tmp,
		memory:   memory,
		fields:   fields,
		terms:    newInverted(tmp, memory),
		forward:  tmp.newSpillFile(),
		starts:   tmp.newSpillFile(),
		lengths:  tmp.newSpillFile(),
		optional: optional,
	}
}

// add adds the words of the next records: one part for each searchable field of each record.
func (b *wordsBuilder) add(words *tokens, records int) error {
	words.assignIDs(&b.terms.dictionary)
	b.words, b.begin, b.count = b.words[:0], b.begin[:0], b.count[:0]
	for range records {
		b.begin = binary.LittleEndian.AppendUint64(b.begin, b.at+uint64(len(b.words)))
		count := 0
		for range b.fields {
			ids := words.next()
			for _, id := range ids {
				b.words = binary.AppendUvarint(b.words, uint64(id)+1)
				b.terms.add(id, b.records)
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
func (b *wordsBuilder) writeTo(ctx context.Context, w *fileWriter) error {
	found, freqs, records, err := b.terms.sets(ctx)
	if err != nil {
		return err
	}
	names, ids := b.terms.sorted()
	if err := w.section(tagTerms, noField, encodeStrings(names)); err != nil {
		return err
	}
	if err := w.section(tagIDs, noField, ids); err != nil {
		return err
	}
	if err := found.writeTo(w, tagDocs, noField); err != nil {
		return err
	}
	if err := freqs.writeTo(w, tagFreqs, noField); err != nil {
		return err
	}
	if err := w.section(tagForward, noField, b.forward); err != nil {
		return err
	}
	end := binary.LittleEndian.AppendUint64(nil, b.at)
	if err := w.section(tagFStarts, noField, b.starts, end); err != nil {
		return err
	}
	if err := w.section(tagLengths, noField, b.lengths); err != nil {
		return err
	}
	if b.records >= lengthOrderMin {
		if err := b.writeLengthOrder(ctx, w); err != nil {
			return err
		}
	}
	return b.writeOptionalIndexes(ctx, w, names, ids, records)
}
