package review

import (
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

// compare compares the records of a table with those of the live version. The result is nil if
// there is no live version or there are too many records.
func (s *Service) compare(ctx context.Context, t *ingest.Table, live herb.Dataset) (*Comparison, error) {
	if live.Version == "" || live.Records > MaxCompared || t.Dataset.Records > MaxCompared {
		return nil, nil
	}
	view, err := s.opts.Library.AcquireVersion(ctx, live.Ref, live.Version)
	if err != nil {
		return nil, err
	}
	defer view.Release()
	if view.Reader == nil { // a mutable dataset
		return nil, nil
	}
	h := newRecordHash(t.Dataset, view.Fields)
	after, err := h.digests(t.Records(ctx), t.Dataset.Records, h.next)
	if err != nil {
		return nil, err
	}
	before, err := h.digests(view.Reader.Records(ctx), view.Records, h.live)
	if err != nil {
		return nil, err
	}
	c := &Comparison{}
	changed := c.merge(before, after, h.isKeyed)
	if len(changed) == 0 {
		return c, nil
	}
	return c, h.countFields(c, changed, t.Records(ctx), view)
}

// recordHash hashes records of two versions, so that those with equal values have equal hashes.
type recordHash struct {
	seeds      [3]maphash.Seed
	isKeyed    bool
	next, live side
	common     []string // names of the fields that both have
	buf        []byte
}

// side is where the values of a version are in its records.
type side struct {
	fields []herb.Field // as keys are compared
	key    []int
	common []int
}

func newRecordHash(next herb.Dataset, live []herb.Field) *recordHash {
	h := &recordHash{seeds: [3]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed(), maphash.MakeSeed()}}
	h.next.fields, h.live.fields = slices.Clone(next.Fields), slices.Clone(live)
	for i, f := range next.Fields {
		if k := herb.FieldIndex(live, f.Name); k >= 0 {
			h.common = append(h.common, f.Name)
			h.next.common, h.live.common = append(h.next.common, i), append(h.live.common, k)
		}
	}
	h.isKeyed = len(next.PrimaryKey) > 0
	for _, name := range next.PrimaryKey {
		i, k := herb.FieldIndex(next.Fields, name), herb.FieldIndex(live, name)
		if h.isKeyed = h.isKeyed && i >= 0 && k >= 0; !h.isKeyed {
			break
		}
		h.next.key, h.live.key = append(h.next.key, i), append(h.live.key, k)
		if next.Fields[i].Type != live[k].Type { // values of different types are compared as written
			h.next.fields[i].Type, h.live.fields[k].Type = herb.TypeText, herb.TypeText
		}
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
		d.content = maphash.Bytes(h.seeds[2], h.buf)
		if h.isKeyed {
			h.buf, _ = text.AppendKey(h.buf[:0], s.fields, s.key, func(i int) string { return r[i] })
		}
		d.key = [2]uint64{maphash.Bytes(h.seeds[0], h.buf), maphash.Bytes(h.seeds[1], h.buf)}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b digest) int {
		return cmp.Or(cmp.Compare(a.key[0], b.key[0]), cmp.Compare(a.key[1], b.key[1]), cmp.Compare(a.row, b.row))
	})
	return all, nil
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
