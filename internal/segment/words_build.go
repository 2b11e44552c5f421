package segment

import (
	"context"
	"encoding/binary"
)

// wordsBuilder makes the part of a segment that is searched.
type wordsBuilder struct {
	shop    *workshop
	memory  int // bytes to sort in
	fields  int // that are searchable
	terms   *inverted
	forward *spool
	starts  *spool
	lengths *spool
	at      uint64
	total   int
	records uint32
	extras  extraRules

	// What is gathered of a batch.
	words, begin, count []byte
}

func newWordsBuilder(shop *workshop, fields, memory int, extras extraRules) *wordsBuilder {
	return &wordsBuilder{
		shop:    shop,
		memory:  memory,
		fields:  fields,
		terms:   newInverted(shop, memory),
		forward: shop.newSpool(),
		starts:  shop.newSpool(),
		lengths: shop.newSpool(),
		extras:  extras,
	}
}

// add takes the words of the next records: a part for each searchable field of each record.
func (b *wordsBuilder) add(words *tokens, records int) error {
	words.settle(&b.terms.dictionary)
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
	found, twice, records, err := b.terms.sets(ctx)
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
	if err := found.writeTo(w, tagFound, noField); err != nil {
		return err
	}
	if err := twice.writeTo(w, tagTwice, noField); err != nil {
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
	if b.records >= shortFrom {
		if err := b.writeShort(ctx, w); err != nil {
			return err
		}
	}
	return b.writeExtras(ctx, w, names, ids, records)
}
