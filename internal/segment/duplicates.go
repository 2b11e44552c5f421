package segment

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"slices"

	"herbarium/internal/segment/internal/guard"
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

// Limits of the report on duplicates.
const (
	maxDuplicates       = 5
	maxDuplicateRecords = 5
	maxRepeated         = 1024 // repeated hashes that are examined
)

// Duplicates finds records with equal values in all of the fields. For a single field without
// duplicates it uses the sorted rows, at no cost. Otherwise it reads all records once, sorts a hash
// of each in bounded memory, and reads them once more if there are duplicates.
func (r *Reader) Duplicates(ctx context.Context, fields []int, opts SortOptions) (d Duplicates, err error) {
	err = r.file.Guard(func() error {
		steps := guard.NewSteps(ctx)
		defer steps.Release()
		d, err = r.duplicates(ctx, steps, fields, opts)
		return err
	})
	return d, err
}

// duplicates is Duplicates as a part of a longer query.
func (r *Reader) duplicates(ctx context.Context, steps *guard.Steps, fields []int, opts SortOptions) (d Duplicates,
	err error) {
	if len(fields) == 1 && r.columns[fields[0]].Values() == r.columns[fields[0]].Distinct() {
		return Duplicates{}, nil
	}
	s := duplicateSearch{r: r, steps: steps, fields: fields, seed: maphash.MakeSeed(), opts: opts}
	return s.run(ctx)
}

type duplicateSearch struct {
	r      *Reader
	steps  *guard.Steps
	fields []int
	seed   maphash.Seed
	opts   SortOptions
	key    []byte // of the last record
}

// run finds the repeated hashes, and then the records that have them, because different values may
// have the same hash.
func (s *duplicateSearch) run(ctx context.Context) (d Duplicates, err error) {
	repeated := map[uint64]bool{}
	d.Records, err = s.countRepeated(ctx, repeated)
	if err != nil || d.Records == 0 {
		return d, err
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

// countRepeated returns the number of records with the hash of an earlier one, and adds some of
// these hashes.
func (s *duplicateSearch) countRepeated(ctx context.Context, repeated map[uint64]bool) (n int, err error) {
	const hashSize = 8
	sorter, err := s.opts.newSorter(ctx, s.steps, s.r.Len(), hashSize)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, sorter.Close()) }()
	var hash [hashSize]byte
	record := uint32(0)
	if err := s.each(ctx, func(h uint64, ok bool) error {
		record++
		if !ok {
			return nil
		}
		binary.BigEndian.PutUint64(hash[:], h)
		return sorter.Add(hash[:], record-1)
	}); err != nil {
		return 0, err
	}
	last, isFirst := uint64(0), true
	return n, sorter.Each(func(key []byte, _ uint32) {
		s.steps.Add(1)
		h := binary.BigEndian.Uint64(key)
		if h == last && !isFirst {
			n++
			if len(repeated) < maxRepeated {
				repeated[h] = true
			}
		}
		last, isFirst = h, false
	})
}

// gather returns the combinations of values with some hashes, by first occurrence.
func (s *duplicateSearch) gather(ctx context.Context, hashes map[uint64]bool) (inOrder []*Duplicate, err error) {
	groups := map[string]*Duplicate{}
	n := 0
	err = s.each(ctx, func(h uint64, ok bool) error {
		n++
		if !ok || !hashes[h] {
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
		g.Total++
		if len(g.Records) < maxDuplicateRecords {
			g.Records = append(g.Records, n)
		}
		return nil
	})
	return inOrder, err
}

// each calls f with the hash of the key of each record, and leaves the key in s.key. ok is false if
// all fields are empty.
func (s *duplicateSearch) each(ctx context.Context, f func(h uint64, ok bool) error) error {
	return s.r.Each(ctx, func(record []byte) error {
		s.steps.Add(1 + len(record)/64)
		var ok bool
		s.key, ok = text.AppendKey(s.key[:0], s.r.Fields(), s.fields,
			func(f int) string { return s.r.records.ValueOf(record, f) })
		return f(maphash.Bytes(s.seed, s.key), ok)
	})
}
