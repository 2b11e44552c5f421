package segment

import (
	"context"
	"sort"

	"herbarium/internal/segment/internal/file"
)

// ColumnStat summarizes the values of a field.
type ColumnStat struct {
	Filled   int    // records with a value
	Distinct int    // values that compare as different: 1 and 1.0 are the same number
	Min, Max string // first and last value in the order of the field's type; empty if there are none
}

// Column summarizes the values of field i. Its cost does not depend on their number.
func (r *Reader) Column(i int) (s ColumnStat, err error) {
	err = r.file.Guard(func() error {
		c := &r.columns[i]
		s.Filled, s.Distinct = c.Values(), c.Distinct()
		if s.Distinct > 0 {
			s.Min, s.Max = c.RunValue(0), c.RunValue(s.Distinct-1)
		}
		return nil
	})
	return s, err
}

// Each calls f for the JSON of every record, in order, until f fails or ctx is canceled. The bytes point into the map.
// Pages are released after reading, because a file may be larger than memory.
func (r *Reader) Each(ctx context.Context, f func(record []byte) error) error {
	const part = 16 << 20
	for from := 0; from < r.Len(); {
		to, err := r.partEnd(from, part)
		if err == nil {
			err = r.eachIn(ctx, from, to, f)
		}
		if err != nil {
			return err
		}
		from = to
	}
	return nil
}

// eachIn is Each for the records from number from to number to-1.
func (r *Reader) eachIn(ctx context.Context, from, to int, f func(record []byte) error) error {
	return r.file.Guard(func() error {
		for n := from; n < to; n++ {
			if (n-from)%1024 == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := f(r.records.JSON(uint32(n))); err != nil {
				return err
			}
		}
		file.DropPages(r.records.Data[r.records.Starts.At(from):r.records.Starts.At(to)])
		return nil
	})
}

// partEnd returns the end of the part of the records that starts at number from: the records fit into size bytes, or there is
// only one.
func (r *Reader) partEnd(from, size int) (to int, err error) {
	err = r.file.Guard(func() error {
		end := r.records.Starts.At(from) + uint64(size)
		more := sort.Search(r.Len()-from, func(i int) bool { return r.records.Starts.At(from+i+1) > end })
		to = from + max(more, 1)
		return nil
	})
	return to, err
}
