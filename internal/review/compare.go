package review

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"hash/maphash"
	"iter"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/library"
	"herbarium/internal/text"
	"herbarium/internal/versions"
)

// MaxCompared is the number of records of a version up to which records are compared: 32 bytes of
// each are in memory, of the live version and of the file.
const MaxCompared = 1_000_000

// digest identifies a record.
type digest struct {
	key     [2]uint64 // of the primary key, or of all values
	content uint64    // of the values that both versions have
	row     uint32
}

// compare compares the records of a table with those of the live version. The comparison is nil if
// there is no live version or there are too many records. duplicates names the keys that several
// records of the table have, also without a live version.
func (s *Service) compare(ctx context.Context, t *ingest.Table, live herb.Dataset) (c *Comparison, duplicates []versions.Change, err error) {
	if t.Dataset.Records > MaxCompared {
		return nil, nil, nil
	}
	var view library.View
	isCompared := live.Version != "" && live.Records <= MaxCompared
	if isCompared {
		if view, err = s.opts.Library.AcquireVersion(ctx, live.Ref, live.Version); err != nil {
			return nil, nil, err
		}
		defer view.Release()
		isCompared = view.Reader != nil // a mutable dataset has none
	}
	next, repeated := t.Dataset, 0
	if isCompared || len(next.PrimaryKey) > 0 {
		if c, repeated, err = compareRecords(ctx, next, t.Records(ctx), view, isCompared, t.Records); err != nil {
			return nil, nil, err
		}
	}
	if repeated > 0 {
		duplicates = append(duplicates, versions.DuplicateKeys(next.PrimaryKey, true, repeated))
	}
	for _, key := range t.Source.UniqueKeys {
		next.PrimaryKey = key
		if _, repeated, err = compareRecords(ctx, next, t.Records(ctx), library.View{}, false, t.Records); err != nil {
			return nil, nil, err
		}
		if repeated > 0 {
			duplicates = append(duplicates, versions.DuplicateKeys(key, false, repeated))
		}
	}
	return c, duplicates, nil
}

// compareRecords compares the records of next, in two passes, with those of a version.
func compareRecords(
	ctx context.Context, next herb.Dataset, records iter.Seq2[herb.Record, error], live library.View, isCompared bool,
	again func(context.Context) iter.Seq2[herb.Record, error],
) (*Comparison, int, error) {
	h := newRecordHash(next, live.Fields, isCompared)
	after, err := h.digests(records, next.Records, h.next)
	if err != nil {
		return nil, 0, err
	}
	duplicates := h.duplicates(after)
	if !isCompared {
		return nil, duplicates, nil
	}
	before, err := h.digests(live.Reader.Records(ctx), live.Records, h.live)
	if err != nil {
		return nil, 0, err
	}
	c := &Comparison{Duplicates: duplicates}
	changed := c.merge(before, after, h.isKeyed)
	if len(changed) == 0 {
		return c, duplicates, nil
	}
	return c, duplicates, h.countFields(c, changed, again(ctx), live)
}

// recordHash hashes records of two versions, so that those with equal values have equal hashes.
type recordHash struct {
	seeds      [3]maphash.Seed
	isKeyed    bool
	next, live side
	common     []string // names of the fields that both have
	buf, value []byte
}

// side is where the values of a version are in its records.
type side struct {
	fields []herb.Field
	key    []int
	common []int
}

func newRecordHash(next herb.Dataset, live []herb.Field, isCompared bool) *recordHash {
	h := &recordHash{seeds: [3]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed(), maphash.MakeSeed()}}
	h.next.fields, h.live.fields = next.Fields, live
	for i, f := range next.Fields {
		if k := herb.FieldIndex(live, f.Name); k >= 0 {
			h.common = append(h.common, f.Name)
			h.next.common, h.live.common = append(h.next.common, i), append(h.live.common, k)
		}
	}
	h.isKeyed = len(next.PrimaryKey) > 0
	for _, name := range next.PrimaryKey {
		i, k := herb.FieldIndex(next.Fields, name), herb.FieldIndex(live, name)
		h.next.key, h.live.key = append(h.next.key, i), append(h.live.key, k)
		h.isKeyed = h.isKeyed && (k >= 0 || !isCompared)
	}
	return h
}

// digests hashes all records of a version.
func (h *recordHash) digests(records iter.Seq2[herb.Record, error], count int, s side) ([]digest, error) {
	all := make([]digest, 0, count)
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		d := digest{row: uint32(len(all))}
		h.buf = h.buf[:0]
		for _, i := range s.common {
			h.buf = append(binary.AppendUvarint(h.buf, uint64(len(r[i]))), r[i]...)
		}
		if d.content = maphash.Bytes(h.seeds[2], h.buf); h.isKeyed {
			h.appendKey(r, s)
		}
		d.key = [2]uint64{maphash.Bytes(h.seeds[0], h.buf), maphash.Bytes(h.seeds[1], h.buf)}
		if h.isKeyed && len(bytes.Trim(h.buf, "\x00")) == 0 { // records without a key are no duplicates
			d.key = [2]uint64{}
		}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b digest) int {
		return cmp.Or(cmp.Compare(a.key[0], b.key[0]), cmp.Compare(a.key[1], b.key[1]), cmp.Compare(a.row, b.row))
	})
	return all, nil
}

// appendKey replaces the buffer by the primary key of a record. Text and lists are compared as
// written, other types by value, as the primary key is when a version is built.
func (h *recordHash) appendKey(r herb.Record, s side) {
	h.buf = h.buf[:0]
	for n, i := range s.key {
		own := s.fields[i]
		if len(h.live.fields) > 0 && h.next.fields[h.next.key[n]].Type != h.live.fields[h.live.key[n]].Type {
			own.Type = herb.TypeText // values of different types are compared as written
		}
		h.value = text.AppendIdentity(h.value[:0], &own, r[i])
		h.buf = append(binary.AppendUvarint(h.buf, uint64(len(h.value))), h.value...)
	}
}

// duplicates counts the records with the primary key of an earlier one.
func (h *recordHash) duplicates(sorted []digest) (n int) {
	for i := 1; i < len(sorted) && h.isKeyed; i++ {
		if sorted[i].key == sorted[i-1].key && sorted[i].key != ([2]uint64{}) {
			n++
		}
	}
	return n
}

// pair is a changed record: its number in the file and in the live version.
type pair struct{ next, live uint32 }

// merge counts the records of two sorted lists. Records with the same key belong together in their
// order.
func (c *Comparison) merge(before, after []digest, isKeyed bool) (changed []pair) {
	i, j := 0, 0
	for i < len(before) && j < len(after) {
		a, b := before[i], after[j]
		switch order := cmp.Or(cmp.Compare(a.key[0], b.key[0]), cmp.Compare(a.key[1], b.key[1])); {
		case order < 0:
			c.Gone++
			i++
		case order > 0:
			c.New++
			j++
		case isKeyed && a.content != b.content:
			c.Changed++
			changed = append(changed, pair{b.row, a.row})
			i, j = i+1, j+1
		default:
			c.Same++
			i, j = i+1, j+1
		}
	}
	c.Gone, c.New = c.Gone+len(before)-i, c.New+len(after)-j
	slices.SortFunc(changed, func(a, b pair) int { return cmp.Compare(a.next, b.next) })
	return changed
}

// countFields counts in how many of the changed records each field differs.
func (h *recordHash) countFields(c *Comparison, changed []pair, records iter.Seq2[herb.Record, error], live library.View) error {
	counts, row := make([]int, len(h.common)), uint32(0)
	for r, err := range records {
		if err != nil {
			return err
		}
		if len(changed) == 0 {
			break
		}
		if changed[0].next == row {
			before, err := live.Reader.Record(int(changed[0].live))
			if err != nil {
				return err
			}
			for n := range h.common {
				if r[h.next.common[n]] != before[h.live.common[n]] {
					counts[n]++
				}
			}
			changed = changed[1:]
		}
		row++
	}
	for n, name := range h.common {
		if counts[n] > 0 {
			c.Fields = append(c.Fields, FieldChange{name, counts[n]})
		}
	}
	slices.SortStableFunc(c.Fields, func(a, b FieldChange) int { return cmp.Compare(b.Count, a.Count) })
	return nil
}
