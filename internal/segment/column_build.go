package segment

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// longRun is the length from which the records of a run are kept as a set, too.
const longRun = 2048

// columnBuilder makes the sections of one field from its values.
type columnBuilder struct {
	field    herb.Field
	shop     *workshop
	memory   int
	values   *spool // every value: its length as varint, and its bytes
	elements *inverted
	records  int

	order  []byte // u32
	runs   []uint32
	mixed  []byte
	prefix setsWriter
	long   []byte // u32
	often  setsWriter
	places []uint32
}

func newColumnBuilder(f herb.Field, shop *workshop, memory int) (*columnBuilder, error) {
	b := &columnBuilder{field: f, shop: shop, memory: memory}
	var err error
	if b.values, err = shop.newSpool(); err != nil {
		return nil, err
	}
	if f.Type == herb.TypeList {
		b.elements = newInverted(shop, memory/4)
	}
	return b, nil
}

// add takes the value of the next record.
func (b *columnBuilder) add(value string) error {
	var head [binary.MaxVarintLen64]byte
	if _, err := b.values.Write(binary.AppendUvarint(head[:0], uint64(len(value)))); err != nil {
		return err
	}
	if _, err := io.WriteString(b.values.w, value); err != nil {
		return err
	}
	if b.elements != nil {
		seen := text.Elements(value)
		slices.Sort(seen)
		for _, e := range slices.Compact(seen) {
			b.elements.add(b.elements.id(e), uint32(b.records), 1)
		}
		if err := b.elements.spillIfFull(); err != nil {
			return err
		}
	}
	b.records++
	return nil
}

// sort finds the order and all that follows from it.
func (b *columnBuilder) sort(ctx context.Context) (err error) {
	done, err := b.sortFew(ctx)
	if err == nil && !done {
		err = b.sortMany(ctx)
	}
	if err != nil {
		return err
	}
	if err := b.values.remove(); err != nil {
		return err
	}
	return b.makeSets()
}

// each calls f with every value. The bytes are valid until f returns.
func (b *columnBuilder) each(ctx context.Context, f func(record uint32, value []byte) error) error {
	in, err := b.values.reader()
	if err != nil {
		return err
	}
	var value []byte
	for record := range b.records {
		if record%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		size, err := binary.ReadUvarint(in)
		if err != nil {
			return err
		}
		value = slices.Grow(value[:0], int(size))[:size]
		if _, err := io.ReadFull(in, value); err != nil {
			return err
		}
		if err := f(uint32(record), value); err != nil {
			return err
		}
	}
	return nil
}

// key returns the sort key of a value.
func (b *columnBuilder) key(value []byte) (string, error) {
	key, ok := text.Key(b.field.Type, string(value))
	if !ok {
		return "", herb.Invalidf("field %q has the value %q, which is not a %s", b.field.Name, value, b.field.Type)
	}
	return key, nil
}

// sortMany sorts values that are mostly different, each by its own key.
func (b *columnBuilder) sortMany(ctx context.Context) (err error) {
	s := &sorter{shop: b.shop, memory: b.memory}
	defer func() { err = errors.Join(err, s.close()) }()
	seed := maphash.MakeSeed()
	var empty []uint32
	err = b.each(ctx, func(record uint32, value []byte) error {
		if len(value) == 0 {
			empty = append(empty, record)
			return nil
		}
		key, err := b.key(value)
		if err != nil {
			return err
		}
		return s.add(key, record, maphash.Bytes(seed, value))
	})
	if err != nil {
		return err
	}
	b.begin()
	var before []byte
	var firstHash uint64
	err = s.each(func(key []byte, record uint32, hash uint64) error {
		if len(b.runs) == 0 || string(key) != string(before) {
			b.runs = append(b.runs, uint32(b.placed()))
			before, firstHash = append(before[:0], key...), hash
			if b.placed()%4096 == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
		} else if hash != firstHash && b.field.Type != herb.TypeNumber {
			b.mark(len(b.runs) - 1)
		}
		b.place(record)
		return nil
	})
	b.finish(empty)
	return err
}

// sortFew sorts values of which there are few different ones: only those are sorted, and the records are dealt out. done
// is false if there are too many.
func (b *columnBuilder) sortFew(ctx context.Context) (done bool, err error) {
	const maxLength = 256
	maxValues := min(1<<16, b.memory/64)
	type distinct struct {
		value, key string
		records    int
	}
	var values []distinct
	codes := make([]uint32, 0, b.records)
	numbers := map[string]uint32{}
	tooMany := errors.New("too many values")
	err = b.each(ctx, func(record uint32, value []byte) error {
		code, ok := numbers[string(value)]
		if !ok {
			if len(values) == maxValues || len(value) > maxLength {
				return tooMany
			}
			code = uint32(len(values))
			d := distinct{value: string(value)}
			if len(value) > 0 {
				var err error
				if d.key, err = b.key(value); err != nil {
					return err
				}
			}
			values = append(values, d)
			numbers[d.value] = code
		}
		values[code].records++
		codes = append(codes, code)
		return nil
	})
	if errors.Is(err, tooMany) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	order := make([]uint32, len(values))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int {
		a, b := values[x], values[y]
		if a.value == "" || b.value == "" { // the values end where those without one begin
			return cmp.Compare(len(b.value), len(a.value))
		}
		return strings.Compare(a.key, b.key)
	})
	// Values with the same key share a run, in which their records come in the order of their numbers.
	runOf, starts := make([]uint32, len(values)), []int{}
	b.begin()
	at := 0
	for i, code := range order {
		d := &values[code]
		same := i > 0 && d.value != "" && d.key == values[order[i-1]].key
		if !same {
			starts = append(starts, at)
			if d.value != "" {
				b.runs = append(b.runs, uint32(at))
			}
		} else if b.field.Type != herb.TypeNumber {
			b.mark(len(b.runs) - 1)
		}
		runOf[code] = uint32(len(starts) - 1)
		at += d.records
	}
	b.order = b.order[:4*b.records]
	withValue := b.records
	if n, ok := numbers[""]; ok {
		withValue -= values[n].records
	}
	for record, code := range codes {
		p := starts[runOf[code]]
		starts[runOf[code]]++
		binary.LittleEndian.PutUint32(b.order[4*p:], uint32(record))
		b.places[record] = uint32(p)
	}
	b.runs = append(b.runs, uint32(withValue))
	b.mark(-1)
	return true, nil
}

// begin makes room for the order.
func (b *columnBuilder) begin() {
	b.order = make([]byte, 0, 4*b.records)
	b.places = make([]uint32, b.records)
}

// placed is how many records have their place.
func (b *columnBuilder) placed() int { return len(b.order) / 4 }

// place gives a record the next place.
func (b *columnBuilder) place(record uint32) {
	b.places[record] = uint32(b.placed())
	b.order = binary.LittleEndian.AppendUint32(b.order, record)
}

// finish places the records without a value.
func (b *columnBuilder) finish(empty []uint32) {
	b.runs = append(b.runs, uint32(b.placed())) // where the values end
	for _, record := range empty {
		b.place(record)
	}
	b.mark(-1)
}

// mark notes that the values of a run are written differently; -1 only makes room for all runs.
func (b *columnBuilder) mark(run int) {
	for len(b.mixed) < (len(b.runs)+6)/8 || run >= 8*len(b.mixed) {
		b.mixed = append(b.mixed, 0)
	}
	if run >= 0 {
		b.mixed[run/8] |= 1 << (run % 8)
	}
}

// makeSets makes the sets of the long runs and of the beginnings of the order.
func (b *columnBuilder) makeSets() (err error) {
	if b.often.body, err = b.shop.newSpool(); err != nil {
		return err
	}
	if b.prefix.body, err = b.shop.newSpool(); err != nil {
		return err
	}
	order := u32s(b.order)
	var members []uint32
	for i := range b.runs {
		from, to := int(b.runs[i]), b.records
		if i+1 < len(b.runs) {
			to = int(b.runs[i+1])
		}
		if to-from < longRun {
			continue
		}
		b.long = binary.LittleEndian.AppendUint32(b.long, uint32(i))
		set := roaring.New()
		members = order.slice(from, to).appendTo(members[:0])
		set.AddMany(members)
		if err := b.often.add(set, nil); err != nil {
			return err
		}
	}
	if b.records == 0 {
		return nil
	}
	dense := newBitset(b.records)
	for j, from := 1, 0; j < prefixSets; j++ {
		to := j * b.records / prefixSets
		for p := from; p < to; p++ {
			dense.add(order.at(p))
		}
		from = to
		if err := b.prefix.add(roaring.FromDense(dense, true), nil); err != nil {
			return err
		}
	}
	return nil
}

// writeTo writes the sections of the field.
func (b *columnBuilder) writeTo(w *fileWriter, field uint32) error {
	places, runs := make([]byte, 0, 4*len(b.places)), make([]byte, 0, 4*len(b.runs))
	for _, p := range b.places {
		places = binary.LittleEndian.AppendUint32(places, p)
	}
	for _, r := range b.runs {
		runs = binary.LittleEndian.AppendUint32(runs, r)
	}
	for _, s := range []struct {
		tag  tag
		body []byte
	}{{tagOrder, b.order}, {tagPlaces, places}, {tagRuns, runs}, {tagMixed, b.mixed}, {tagLong, b.long}} {
		if err := w.section(s.tag, field, s.body); err != nil {
			return err
		}
	}
	b.order, b.places, b.runs = nil, nil, nil
	if err := b.often.writeTo(w, tagOften, field); err != nil {
		return err
	}
	if b.records > 0 {
		if err := b.prefix.writeTo(w, tagPrefix, field); err != nil {
			return err
		}
	}
	if b.elements == nil {
		return nil
	}
	listed := setsWriter{}
	var err error
	if listed.body, err = b.shop.newSpool(); err != nil {
		return err
	}
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
