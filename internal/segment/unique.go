package segment

import (
	"context"
	"encoding/binary"
	"hash/maphash"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Duplicates says which records cannot be told apart by some of their fields. Numbers are the same if they are equal,
// everything else if it is written alike. Records in which all of the fields are empty are not compared.
type Duplicates struct {
	Records int         // records that have the values of an earlier one
	First   []Duplicate // some of the values, those that begin first
}

// Duplicate is one combination of values that several records have.
type Duplicate struct {
	Values  []string // of the first record
	Records []int    // the first few of the records, counted from 1
	Total   int
}

// The limits of what is told of duplicates, and of the memory that looking for them takes.
const (
	maxDuplicates       = 5
	maxDuplicateRecords = 5
	maxRepeated         = 1024     // hashes that are looked at again
	hashesAtOnce        = 16 << 20 // 128 MiB
)

// Duplicates looks for records that have the same values in all of the fields. For one field that has none it asks the
// field's order, at no cost; otherwise it reads all records, once for each 16 million of them, and once more if there are
// duplicates.
func (r *Reader) Duplicates(ctx context.Context, fields []int) (d Duplicates, err error) {
	if len(fields) == 1 && r.columns[fields[0]].values() == r.columns[fields[0]].distinct() {
		return Duplicates{}, nil
	}
	s := duplicateSearch{r: r, fields: fields, seed: maphash.MakeSeed(), atOnce: hashesAtOnce}
	return s.run(ctx)
}

type duplicateSearch struct {
	r      *Reader
	fields []int
	seed   maphash.Seed
	atOnce int // hashes to keep in memory
	key    []byte
}

// run finds the hashes that repeat, in as many rounds as memory demands, and then the records that have them: different
// values may have the same hash.
func (s *duplicateSearch) run(ctx context.Context) (Duplicates, error) {
	rounds := uint64(max(1, (s.r.Len()+s.atOnce-1)/s.atOnce))
	var d Duplicates
	var repeated []uint64
	hashes := make([]uint64, 0, min(s.r.Len(), s.atOnce+s.atOnce/16))
	for round := range rounds {
		hashes = hashes[:0]
		err := s.r.Each(ctx, func(record []byte) error {
			if h, ok := s.hash(record); ok && h%rounds == round {
				hashes = append(hashes, h)
			}
			return nil
		})
		if err != nil {
			return d, err
		}
		slices.Sort(hashes)
		for i := 1; i < len(hashes); i++ {
			if hashes[i] != hashes[i-1] {
				continue
			}
			d.Records++
			if len(repeated) < maxRepeated && (len(repeated) == 0 || repeated[len(repeated)-1] != hashes[i]) {
				repeated = append(repeated, hashes[i])
			}
		}
	}
	if d.Records == 0 {
		return d, nil
	}
	return s.gather(ctx, d, repeated)
}

// gather finds the records whose hashes repeat.
func (s *duplicateSearch) gather(ctx context.Context, d Duplicates, repeated []uint64) (Duplicates, error) {
	slices.Sort(repeated)
	groups := map[string]*Duplicate{}
	var inOrder []*Duplicate
	n := 0
	err := s.r.Each(ctx, func(record []byte) error {
		n++
		h, ok := s.hash(record)
		if !ok {
			return nil
		}
		if _, found := slices.BinarySearch(repeated, h); !found {
			return nil
		}
		g := groups[string(s.key)]
		if g == nil {
			g = &Duplicate{}
			for _, f := range s.fields {
				g.Values = append(g.Values, s.r.columns[f].value(uint32(n-1)))
			}
			groups[string(s.key)] = g
			inOrder = append(inOrder, g)
		}
		if g.Total++; len(g.Records) < maxDuplicateRecords {
			g.Records = append(g.Records, n)
		}
		return nil
	})
	if err != nil {
		return d, err
	}
	verified := 0
	for _, g := range inOrder {
		if g.Total == 1 {
			continue // another record has the hash, but not the values
		}
		verified += g.Total - 1
		if len(d.First) < maxDuplicates {
			d.First = append(d.First, *g)
		}
	}
	if len(repeated) < maxRepeated {
		d.Records = verified
	}
	return d, nil
}

// hash returns the hash of the key of a record, which is in s.key afterwards. ok is false if there is nothing in it.
func (s *duplicateSearch) hash(record []byte) (h uint64, ok bool) {
	s.key = s.key[:0]
	for _, f := range s.fields {
		c := &s.r.columns[f]
		raw := rawValue(record, c.labels, c.position)
		ok = ok || len(raw) > 0
		if c.field.Type == herb.TypeNumber && len(raw) > 0 {
			k, _ := text.NumberKey(string(raw)) // a digit needs no escape
			s.key = binary.AppendUvarint(s.key, uint64(len(k)))
			s.key = append(s.key, k...)
			continue
		}
		s.key = binary.AppendUvarint(s.key, uint64(len(raw)))
		s.key = append(s.key, raw...)
	}
	return maphash.Bytes(s.seed, s.key), ok
}
