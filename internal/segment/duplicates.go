package segment

import (
	"context"
	"hash/maphash"
	"slices"

	"herbarium/internal/text"
)

// Duplicates reports the records with equal values in some fields. Text and lists are compared as
// written, other types by value. Records in which all of the fields are empty are ignored.
type Duplicates struct {
	Records int         // records with the values of an earlier one
	First   []Duplicate // some of the combinations, by first occurrence
}

// Duplicate is one combination of values that several records have.
type Duplicate struct {
	Values  []string // as written in the first record
	Records []int    // the first few records, counted from 1
	Total   int
}

// Limits of the report on duplicates, and of the memory for the search.
const (
	maxDuplicates       = 5
	maxDuplicateRecords = 5
	maxRepeated         = 1024     // repeated hashes that are examined
	hashesAtOnce        = 16 << 20 // 128 MiB
)

// Duplicates finds records with equal values in all of the fields. For a single field without
// duplicates it uses the sorted rows, at no cost. Otherwise it reads all records once per 16
// million of them, and once more if there are duplicates.
func (r *Reader) Duplicates(ctx context.Context, fields []int) (d Duplicates, err error) {
	if len(fields) == 1 && r.columns[fields[0]].Values() == r.columns[fields[0]].Distinct() {
		return Duplicates{}, nil
	}
	s := duplicateSearch{r: r, fields: fields, seed: maphash.MakeSeed(), atOnce: hashesAtOnce}
	return s.run(ctx)
}

type duplicateSearch struct {
	r      *Reader
	fields []int
	seed   maphash.Seed
	atOnce int    // maximum number of hashes in memory
	key    []byte // of the last record
}

// run finds the repeated hashes, in as many passes as the memory requires, and then the records
// that have them, because different values may have the same hash.
func (s *duplicateSearch) run(ctx context.Context) (d Duplicates, err error) {
	rounds := uint64(max(1, (s.r.Len()+s.atOnce-1)/s.atOnce))
	repeated := map[uint64]bool{}
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
			if hashes[i] == hashes[i-1] {
				d.Records++
				if len(repeated) < maxRepeated {
					repeated[hashes[i]] = true
				}
			}
		}
	}
	if d.Records == 0 {
		return d, nil
	}
	groups, err := s.gather(ctx, repeated)
	groups = slices.DeleteFunc(groups, func(g *Duplicate) bool { return g.Total == 1 }) // a hash collision
	if len(repeated) < maxRepeated {
		d.Records = -len(groups)
		for _, g := range groups {
			d.Records += g.Total
		}
	}
	for _, g := range groups[:min(len(groups), maxDuplicates)] {
		d.First = append(d.First, *g)
	}
	return d, err
}

// gather returns the combinations of values with some hashes, by first occurrence.
func (s *duplicateSearch) gather(ctx context.Context, hashes map[uint64]bool) (inOrder []*Duplicate, err error) {
	groups := map[string]*Duplicate{}
	n := 0
	err = s.r.Each(ctx, func(record []byte) error {
		n++
		if h, ok := s.hash(record); !ok || !hashes[h] {
			return nil
		}
		g := groups[string(s.key)]
		if g == nil {
			g = &Duplicate{}
			for _, f := range s.fields {
				g.Values = append(g.Values, s.r.records.Value(uint32(n-1), f))
			}
			groups[string(s.key)] = g
			inOrder = append(inOrder, g)
		}
		if g.Total++; len(g.Records) < maxDuplicateRecords {
			g.Records = append(g.Records, n)
		}
		return nil
	})
	return inOrder, err
}

// hash returns the hash of the key of a record and leaves the key in s.key. ok is false if all
// fields are empty.
func (s *duplicateSearch) hash(record []byte) (h uint64, ok bool) {
	s.key, ok = text.AppendKey(s.key[:0], s.r.Fields(), s.fields, func(f int) string { return s.r.records.ValueOf(record, f) })
	return maphash.Bytes(s.seed, s.key), ok
}
