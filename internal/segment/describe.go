package segment

import (
	"context"

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

// Each calls f for the JSON of every record, in order, until f fails or ctx is canceled. The bytes
// point into the map. Pages are released after reading, because a file may be larger than memory.
func (r *Reader) Each(ctx context.Context, f func(record []byte) error) error {
	const partSize = 16 << 20
	for n := 0; n < r.Len(); {
		err := r.file.Guard(func() error {
			part, read := n, 0
			for ; n < r.Len() && read < partSize; n++ {
				if n%1024 == 0 && ctx.Err() != nil {
					return context.Cause(ctx)
				}
				record := r.records.JSON(uint32(n))
				read += len(record)
				if err := f(record); err != nil {
					return err
				}
			}
			file.DropPages(r.records.Data[r.records.Starts.At(part):r.records.Starts.At(n)])
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
