package segment

import (
	"context"
)

// ColumnStat says what the values of a field amount to.
type ColumnStat struct {
	Filled   int    // records with a value
	Distinct int    // values that compare as different: 1 and 1.0 are one number
	Min, Max string // the first and the last value in the order of the field's type; empty if there is none
}

// Column describes the values of field i. Its cost does not depend on how many there are.
func (r *Reader) Column(i int) (s ColumnStat, err error) {
	err = r.guard(func() error {
		c := &r.columns[i]
		s.Filled, s.Distinct = c.values(), c.distinct()
		if s.Distinct > 0 {
			s.Min, s.Max = c.runValue(0), c.runValue(s.Distinct-1)
		}
		return nil
	})
	return s, err
}

// Forget lets go of all that was read of the file and is still in memory. It is read again when it is needed.
func (r *Reader) Forget() { forget(r.file) }

// Each calls f with the JSON of every record, in order, until f fails or ctx ends. The bytes point into the map. What was
// read is not kept in memory: a file may be larger than that.
func (r *Reader) Each(ctx context.Context, f func(record []byte) error) error {
	const step = 16 << 20
	return r.guard(func() error {
		read := uint64(0) // up to where the records were let go of
		for n := range r.Len() {
			if n%1024 == 0 {
				if err := ctx.Err(); err != nil {
					return context.Cause(ctx)
				}
			}
			if err := f(r.record(uint32(n))); err != nil {
				return err
			}
			if end := r.starts.at(n + 1); end-read >= step {
				forget(r.records[read:end])
				read = end
			}
		}
		return nil
	})
}
