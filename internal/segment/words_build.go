package segment

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// wordsBuilder makes the part of a segment that is searched.
type wordsBuilder struct {
	shop    *workshop
	terms   *inverted
	forward *spool
	starts  *spool
	lengths *spool
	at      uint64
	total   int
	records uint32
	buf     []byte
	ids     []uint32
}

func newWordsBuilder(shop *workshop, memory int) (*wordsBuilder, error) {
	b := &wordsBuilder{shop: shop, terms: newInverted(shop, memory)}
	for _, s := range []**spool{&b.forward, &b.starts, &b.lengths} {
		var err error
		if *s, err = shop.newSpool(); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// add takes the words of the next record, field by field.
func (b *wordsBuilder) add(fields [][]string) error {
	b.buf, b.ids = b.buf[:0], b.ids[:0]
	for _, words := range fields {
		for _, w := range words {
			id := b.terms.id(w)
			b.ids = append(b.ids, id)
			b.buf = binary.AppendUvarint(b.buf, uint64(id)+1)
		}
		b.buf = append(b.buf, 0)
	}
	var num [8]byte
	if _, err := b.starts.Write(binary.LittleEndian.AppendUint64(num[:0], b.at)); err != nil {
		return err
	}
	if _, err := b.lengths.Write(binary.LittleEndian.AppendUint32(num[:0], uint32(len(b.ids)))); err != nil {
		return err
	}
	if _, err := b.forward.Write(b.buf); err != nil {
		return err
	}
	b.at += uint64(len(b.buf))
	b.total += len(b.ids)
	slices.Sort(b.ids)
	for i := 0; i < len(b.ids); {
		j := i + 1
		for j < len(b.ids) && b.ids[j] == b.ids[i] {
			j++
		}
		b.terms.add(b.ids[i], b.records, j-i)
		i = j
	}
	b.records++
	return b.terms.spillIfFull()
}

// writeTo writes the sections.
func (b *wordsBuilder) writeTo(ctx context.Context, w *fileWriter) error {
	var found, twice setsWriter
	for _, s := range []*setsWriter{&found, &twice} {
		var err error
		if s.body, err = b.shop.newSpool(); err != nil {
			return err
		}
	}
	err := b.terms.each(func(f, t *roaring.Bitmap, counts []byte) error {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := found.add(f, nil); err != nil {
			return err
		}
		return twice.add(t, counts)
	})
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
	return w.section(tagLengths, noField, b.lengths)
}
