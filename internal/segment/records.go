package segment

import (
	"context"
	"iter"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/guard"
)

// Records yields all records in dataset order. An error ends the sequence.
func (c *Core) Records(ctx context.Context) iter.Seq2[herb.Record, error] {
	return yieldChunks(guard.NewSteps(ctx), c.file.Guard, func() func() []herb.Record {
		n := 0
		return func() (chunk []herb.Record) {
			for ; n < c.Len() && len(chunk) < streamNumbers; n++ {
				record := make(herb.Record, len(c.Fields()))
				for i := range record {
					record[i] = c.records.Value(uint32(n), i)
				}
				chunk = append(chunk, record)
			}
			return chunk
		}
	})
}

// Record returns a record by its number in dataset order, from 0.
func (c *Core) Record(n int) (record herb.Record, err error) {
	err = c.file.Guard(func() error {
		record = make(herb.Record, len(c.Fields()))
		for i := range record {
			record[i] = c.records.Value(uint32(n), i)
		}
		return nil
	})
	return record, err
}

// AppendRecord appends the JSON of a record, by its number in dataset order.
func (c *Core) AppendRecord(dst []byte, n int) (_ []byte, err error) {
	err = c.file.Guard(func() error {
		dst = append(dst, c.records.JSON(uint32(n))...)
		return nil
	})
	return dst, err
}

// Each calls f for the JSON of every record, in order, until f fails or ctx is canceled. The bytes
// point into the map. Pages are released after reading, because a file may be larger than memory.
func (c *Core) Each(ctx context.Context, f func(record []byte) error) error {
	const chunkSize = 16 << 20
	for n := 0; n < c.Len(); {
		err := c.file.Guard(func() error {
			first, read := n, 0
			for ; n < c.Len() && read < chunkSize; n++ {
				if n%1024 == 0 && ctx.Err() != nil {
					return context.Cause(ctx)
				}
				record := c.records.JSON(uint32(n))
				read += len(record)
				if err := f(record); err != nil {
					return err
				}
			}
			c.file.DropPages(c.records.Data[c.records.Starts.At(first):c.records.Starts.At(n)])
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
