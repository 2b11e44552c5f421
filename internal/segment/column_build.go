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

// columnBuilder builds the sections of one field from its values.
type columnBuilder struct {
	field    herb.Field
	tmp      *tempDir
	values   *spillFile // all values: length as varint, and bytes
	size     int64      // of the values
	elements *inverted
	records  int

	canonical  []byte     // of the current value
	sorted     *spillFile // u32
	ranks      *spillFile // u32
	runs       *spillFile // u32
	runCount   int        // number of entries in runs
	nonUniform []byte
	sets       *sortedSets
}

func newColumnBuilder(f herb.Field, tmp *tempDir, memory int) *columnBuilder {
	b := &columnBuilder{field: f, tmp: tmp, values: tmp.newSpillFile(), runs: tmp.newSpillFile()}
	if f.Type == herb.TypeList {
		b.elements = newInverted(tmp, memory)
	}
	return b
}

// add adds the values of the next records and, for a list field, their elements.
func (b *columnBuilder) add(values []byte, elements *tokens, records int) error {
	if _, err := b.values.Write(values); err != nil {
		return err
	}
	b.size += int64(len(values))
	if b.elements != nil {
		elements.assignIDs(&b.elements.dictionary)
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

// sort computes the sorted rows and everything derived from them.
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
	b.sets, err = makeSets(b.tmp, b.sorted, b.runs, b.records, b.runCount)
	return err
}

// each calls f for every value. The bytes are only valid until f returns.
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
		value, err := in.next(int(size))
		if err != nil {
			return err
		}
		if err := f(uint32(record), value); err != nil {
			return err
		}
	}
	return nil
}

// appendKey appends the sort key of a value. missing is its rank among missing values, or -1 if it has a key.
func (b *columnBuilder) appendKey(dst, value []byte) (key []byte, missing int, err error) {
	canonical, status := value, text.Missing
	if b.field.Type.IsScalar() {
		b.canonical, status = text.AppendCanonical(b.canonical[:0], &b.field, value)
		canonical = b.canonical
	} else if len(value) > 0 {
		status = text.Valid
	}
	if status == text.Missing {
		return dst, text.MissingRank(&b.field, value), nil
	}
	key, ok := text.AppendSortKey(dst, b.field.Type, canonical)
	if status == text.Invalid || !ok {
		return nil, 0, herb.Invalidf("field %q has the value %q, which is not a %s", b.field.Name, value, b.field.Type)
	}
	return key, -1, nil
}

// sortMany sorts mostly distinct values, each by its own key.
func (b *columnBuilder) sortMany(ctx context.Context, buf *sortBuffer) (err error) {
	s := &sorter{tmp: b.tmp, buf: buf}
	defer func() { err = errors.Join(err, s.close()) }()
	seed := maphash.MakeSeed()
	missing := make([]*spillFile, len(b.field.Notation.Missing)+1) // records whose value is missing, by rank
	for i := range missing {
		missing[i] = b.tmp.newSpillFile()
	}
	var key []byte
	err = b.each(ctx, func(record uint32, value []byte) (err error) {
		var rank int
		if key, rank, err = b.appendKey(key[:0], value); err != nil {
			return err
		}
		if rank >= 0 {
			return missing[rank].writeU32(record)
		}
		return s.add(key, record, maphash.Bytes(seed, value))
	})
	if err != nil {
		return err
	}
	b.sorted = b.tmp.newSpillFile()
	placed := 0
	var before []byte
	var firstHash uint64
	err = s.each(func(key []byte, record uint32, hash uint64) error {
		if placed == 0 || string(key) != string(before) {
			if err := b.beginRun(placed); err != nil {
				return err
			}
			before, firstHash = append(before[:0], key...), hash
		} else if hash != firstHash && !b.field.Type.IsScalar() {
			b.markNonUniform(b.runCount - 1)
		}
		if placed++; placed%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return b.sorted.writeU32(record)
	})
	if err != nil {
		return err
	}
	if err := b.beginRun(placed); err != nil { // end of the values
		return err
	}
	b.markNonUniform(-1)
	for _, m := range missing {
		in, err := m.reader()
		if err != nil {
			return err
		}
		if _, err := io.Copy(b.sorted, in); err != nil {
			return err
		}
		if err := m.remove(); err != nil {
			return err
		}
	}
	b.ranks, err = b.tmp.invert(b.sorted, b.records, buf.memory/4)
	return err
}

// distinctValue is one of the values of a field with few distinct ones.
type distinctValue struct {
	value   string
	key     []byte
	missing int // rank among missing values; -1 if it has a key
	records int
	rank    *int // rank of the next record of its run
}

// compare orders values by key, and missing ones after these.
func (d *distinctValue) compare(o *distinctValue) int {
	if d.missing < 0 && o.missing < 0 {
		return bytes.Compare(d.key, o.key)
	}
	return cmp.Compare(d.missing, o.missing) // -1 is less than any rank
}

// sortFew sorts few distinct values: only these are sorted, and the records are distributed by counting. done is false
// if there are too many.
func (b *columnBuilder) sortFew(ctx context.Context, buf *sortBuffer) (done bool, err error) {
	codes := b.tmp.newSpillFile()
	defer func() { err = errors.Join(err, codes.remove()) }()
	values, ok, err := b.fewValues(ctx, codes, buf.memory/256)
	if err != nil || !ok {
		return false, err
	}
	if err := b.assignRuns(values); err != nil {
		return false, err
	}
	b.ranks = b.tmp.newSpillFile()
	in, err := codes.reader()
	if err != nil {
		return false, err
	}
	for range b.records {
		code, err := in.u32()
		if err != nil {
			return false, err
		}
		rank := values[code].rank
		if err := b.ranks.writeU32(uint32(*rank)); err != nil {
			return false, err
		}
		*rank++
	}
	b.sorted, err = b.tmp.invert(b.ranks, b.records, buf.memory/4)
	return true, err
}

// fewValues collects the distinct values and writes the index of the value of each record. ok is false if there are
// more than most, or probably will be.
func (b *columnBuilder) fewValues(ctx context.Context, codes *spillFile, most int) (values []*distinctValue, ok bool, err error) {
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
			d := &distinctValue{value: string(value)}
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

// assignRuns sorts the values and assigns each the rank of its first record. Values with equal keys share a run, whose
// records are in the order of their numbers. All missing values are in the run after the last value.
func (b *columnBuilder) assignRuns(values []*distinctValue) (err error) {
	for _, d := range values {
		if d.key, d.missing, err = b.appendKey(nil, []byte(d.value)); err != nil {
			return err
		}
	}
	sorted := slices.Clone(values)
	slices.SortFunc(sorted, (*distinctValue).compare)
	at, ended := 0, false
	for i, d := range sorted {
		equal := i > 0 && d.compare(sorted[i-1]) == 0
		switch {
		case equal:
			d.rank = sorted[i-1].rank
			if d.missing < 0 && !b.field.Type.IsScalar() {
				b.markNonUniform(b.runCount - 1)
			}
		default:
			d.rank = new(at)
		}
		if !equal && !ended {
			if err := b.beginRun(at); err != nil {
				return err
			}
		}
		ended = ended || d.missing >= 0
		at += d.records
	}
	if !ended { // end of the values
		if err := b.beginRun(at); err != nil {
			return err
		}
	}
	b.markNonUniform(-1)
	return nil
}

// beginRun appends the first rank of a run or, after the last one, the end of the values.
func (b *columnBuilder) beginRun(rank int) error {
	b.runCount++
	return b.runs.writeU32(uint32(rank))
}

// markNonUniform marks a run as non-uniform; -1 only allocates the bits of all runs.
func (b *columnBuilder) markNonUniform(run int) {
	for len(b.nonUniform) < (b.runCount+6)/8 || run >= 8*len(b.nonUniform) {
		b.nonUniform = append(b.nonUniform, 0)
	}
	if run >= 0 {
		b.nonUniform[run/8] |= 1 << (run % 8)
	}
}

// writeTo writes the sections of the field.
func (b *columnBuilder) writeTo(w *fileWriter, field uint32) error {
	for _, s := range []struct {
		tag  tag
		body any
	}{{tagSorted, b.sorted}, {tagRanks, b.ranks}, {tagRuns, b.runs}, {tagNonUniform, b.nonUniform}, {tagLongRuns, b.sets.longRuns}} {
		if err := w.section(s.tag, field, s.body); err != nil {
			return err
		}
		if done, ok := s.body.(*spillFile); ok {
			if err := done.remove(); err != nil {
				return err
			}
		}
	}
	if err := b.sets.longRunSets.writeTo(w, tagLongRunSets, field); err != nil {
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
	listed := setsWriter{body: b.tmp.newSpillFile()}
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
