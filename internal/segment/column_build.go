package segment

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// columnBuilder makes the sections of one field from its values.
type columnBuilder struct {
	field    herb.Field
	shop     *workshop
	values   *spool // every value: its length as varint, and its bytes
	size     int64  // of the values
	elements *inverted
	records  int

	order    *spool // u32
	places   *spool // u32
	runs     *spool // u32
	runCount int    // how many are in runs
	mixed    []byte
	sets     *orderSets
}

func newColumnBuilder(f herb.Field, shop *workshop, memory int) *columnBuilder {
	b := &columnBuilder{field: f, shop: shop, values: shop.newSpool(), runs: shop.newSpool()}
	if f.Type == herb.TypeList {
		b.elements = newInverted(shop, memory)
	}
	return b
}

// add takes the values of the next records and, of a list field, their elements.
func (b *columnBuilder) add(values []byte, elements *tokens, records int) error {
	if _, err := b.values.Write(values); err != nil {
		return err
	}
	b.size += int64(len(values))
	if b.elements != nil {
		elements.settle(&b.elements.dictionary)
		for i := range records {
			for _, id := range elements.next() {
				b.elements.add(id, uint32(b.records+i))
			}
			if err := b.elements.spillIfFull(); err != nil {
				return err
			}
		}
	}
	b.records += records
	return nil
}

// sort finds the order and all that follows from it.
func (b *columnBuilder) sort(ctx context.Context, buf *sortBuffer) (err error) {
	done, err := b.sortFew(ctx, buf)
	if err == nil && !done {
		err = b.sortMany(ctx, buf)
	}
	if err != nil {
		return err
	}
	if err := b.values.remove(); err != nil {
		return err
	}
	b.sets, err = makeSets(b.shop, b.order, b.runs, b.records, b.runCount)
	return err
}

// each calls f with every value. The bytes are valid until f returns.
func (b *columnBuilder) each(ctx context.Context, f func(record uint32, value []byte) error) error {
	in, err := b.values.reader()
	if err != nil {
		return err
	}
	for record := range b.records {
		if record%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		size, err := in.uvarint()
		if err != nil {
			return err
		}
		value, err := in.take(int(size))
		if err != nil {
			return err
		}
		if err := f(uint32(record), value); err != nil {
			return err
		}
	}
	return nil
}

// appendKey appends the sort key of a value.
func (b *columnBuilder) appendKey(dst, value []byte) ([]byte, error) {
	key, ok := text.AppendSortKey(dst, b.field.Type, value)
	if !ok {
		return nil, herb.Invalidf("field %q has the value %q, which is not a %s", b.field.Name, value, b.field.Type)
	}
	return key, nil
}

// sortMany sorts values that are mostly different, each by its own key.
func (b *columnBuilder) sortMany(ctx context.Context, buf *sortBuffer) (err error) {
	s := &sorter{shop: b.shop, buf: buf}
	defer func() { err = errors.Join(err, s.close()) }()
	seed := maphash.MakeSeed()
	empty := b.shop.newSpool() // the records without a value
	var key []byte
	err = b.each(ctx, func(record uint32, value []byte) (err error) {
		if len(value) == 0 {
			return empty.writeU32(record)
		}
		if key, err = b.appendKey(key[:0], value); err != nil {
			return err
		}
		return s.add(key, record, maphash.Bytes(seed, value))
	})
	if err != nil {
		return err
	}
	b.order = b.shop.newSpool()
	placed := 0
	var before []byte
	var firstHash uint64
	err = s.each(func(key []byte, record uint32, hash uint64) error {
		if placed == 0 || string(key) != string(before) {
			if err := b.beginRun(placed); err != nil {
				return err
			}
			before, firstHash = append(before[:0], key...), hash
		} else if hash != firstHash && b.field.Type != herb.TypeNumber {
			b.mark(b.runCount - 1)
		}
		if placed++; placed%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return b.order.writeU32(record)
	})
	if err != nil {
		return err
	}
	if err := b.beginRun(placed); err != nil { // where the values end
		return err
	}
	b.mark(-1)
	without, err := empty.reader()
	if err != nil {
		return err
	}
	if _, err := io.Copy(b.order, without); err != nil {
		return err
	}
	if err := empty.remove(); err != nil {
		return err
	}
	b.places, err = b.shop.invert(b.order, b.records, buf.memory/4)
	return err
}

// distinct is one of the values of a field that has few.
type distinct struct {
	value   string
	key     []byte
	records int
	place   *int // of the next record of its run
}

// sortFew sorts values of which there are few different ones: only those are sorted, and the records are dealt out. done
// is false if there are too many.
func (b *columnBuilder) sortFew(ctx context.Context, buf *sortBuffer) (done bool, err error) {
	codes := b.shop.newSpool()
	defer func() { err = errors.Join(err, codes.remove()) }()
	values, ok, err := b.fewValues(ctx, codes, buf.memory/256)
	if err != nil || !ok {
		return false, err
	}
	if err := b.placeRuns(values); err != nil {
		return false, err
	}
	b.places = b.shop.newSpool()
	in, err := codes.reader()
	if err != nil {
		return false, err
	}
	for range b.records {
		code, err := in.u32()
		if err != nil {
			return false, err
		}
		place := values[code].place
		if err := b.places.writeU32(uint32(*place)); err != nil {
			return false, err
		}
		*place++
	}
	b.order, err = b.shop.invert(b.places, b.records, buf.memory/4)
	return true, err
}

// fewValues finds the different values and writes for each record which one it has. ok is false if there are more than
// most, or so many that there seem to be.
func (b *columnBuilder) fewValues(ctx context.Context, codes *spool, most int) (values []*distinct, ok bool, err error) {
	const maxLength, maxValues, promising = 256, 1 << 16, 1 << 14
	numbers := map[string]uint32{}
	tooMany := errors.New("too many values")
	err = b.each(ctx, func(record uint32, value []byte) error {
		code, known := numbers[string(value)]
		if !known {
			n := len(values)
			if n == min(most, maxValues) || len(value) > maxLength || n >= promising && n > int(record)/2 {
				return tooMany
			}
			code = uint32(n)
			d := &distinct{value: string(value)}
			values = append(values, d)
			numbers[d.value] = code
		}
		values[code].records++
		return codes.writeU32(code)
	})
	if errors.Is(err, tooMany) {
		return nil, false, nil
	}
	return values, err == nil, err
}

// placeRuns sorts the values and gives each the place of its first record. Values with the same key share a run, in which
// their records come in the order of their numbers.
func (b *columnBuilder) placeRuns(values []*distinct) (err error) {
	for _, d := range values {
		if d.value == "" {
			continue
		}
		if d.key, err = b.appendKey(nil, []byte(d.value)); err != nil {
			return err
		}
	}
	sorted := slices.Clone(values)
	slices.SortFunc(sorted, func(x, y *distinct) int {
		if x.value == "" || y.value == "" { // the values end where those without one begin
			return cmp.Compare(len(y.value), len(x.value))
		}
		return bytes.Compare(x.key, y.key)
	})
	at := 0
	for i, d := range sorted {
		switch {
		case i > 0 && d.value != "" && bytes.Equal(d.key, sorted[i-1].key):
			d.place = sorted[i-1].place
			if b.field.Type != herb.TypeNumber {
				b.mark(b.runCount - 1)
			}
		default:
			d.place = new(at)
			if err := b.beginRun(at); err != nil {
				return err
			}
		}
		at += d.records
	}
	if n := len(sorted); n == 0 || sorted[n-1].value != "" { // where the values end
		if err := b.beginRun(at); err != nil {
			return err
		}
	}
	b.mark(-1)
	return nil
}

// beginRun notes where a run begins or, after the last, where the values end.
func (b *columnBuilder) beginRun(place int) error {
	b.runCount++
	return b.runs.writeU32(uint32(place))
}

// mark notes that the values of a run are written differently; -1 only makes room for all runs.
func (b *columnBuilder) mark(run int) {
	for len(b.mixed) < (b.runCount+6)/8 || run >= 8*len(b.mixed) {
		b.mixed = append(b.mixed, 0)
	}
	if run >= 0 {
		b.mixed[run/8] |= 1 << (run % 8)
	}
}

// writeTo writes the sections of the field.
func (b *columnBuilder) writeTo(w *fileWriter, field uint32) error {
	for _, s := range []struct {
		tag  tag
		body any
	}{{tagOrder, b.order}, {tagPlaces, b.places}, {tagRuns, b.runs}, {tagMixed, b.mixed}, {tagLong, b.sets.long}} {
		if err := w.section(s.tag, field, s.body); err != nil {
			return err
		}
		if done, ok := s.body.(*spool); ok {
			if err := done.remove(); err != nil {
				return err
			}
		}
	}
	if err := b.sets.often.writeTo(w, tagOften, field); err != nil {
		return err
	}
	if b.records > 0 {
		if err := b.sets.prefix.writeTo(w, tagPrefix, field); err != nil {
			return err
		}
	}
	if b.elements == nil {
		return nil
	}
	listed := setsWriter{body: b.shop.newSpool()}
	if err := b.elements.each(func(found, _ *roaring.Bitmap, _ []byte) error { return listed.add(found, nil) }); err != nil {
		return err
	}
	names, ids := b.elements.sorted()
	if err := w.section(tagElement, field, encodeStrings(names)); err != nil {
		return err
	}
	if err := w.section(tagNumbers, field, ids); err != nil {
		return err
	}
	return listed.writeTo(w, tagListed, field)
}
