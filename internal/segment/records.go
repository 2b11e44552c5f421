package segment

import (
	"context"
	"iter"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/guard"
)

// Records yields all records in dataset order. An error ends the sequence.
func (r *Reader) Records(ctx context.Context) iter.Seq2[herb.Record, error] {
	return yieldChunks(guard.NewSteps(ctx), r.file.Guard, func() func() []herb.Record {
		n := 0
		return func() (chunk []herb.Record) {
			for ; n < r.Len() && len(chunk) < streamNumbers; n++ {
				record := make(herb.Record, len(r.columns))
				for i := range record {
					record[i] = r.records.Value(uint32(n), i)
				}
				chunk = append(chunk, record)
			}
			return chunk
		}
	})
}

// Record returns a record by its number in dataset order, from 0.
func (r *Reader) Record(n int) (record herb.Record, err error) {
	err = r.file.Guard(func() error {
		record = make(herb.Record, len(r.columns))
		for i := range record {
			record[i] = r.records.Value(uint32(n), i)
		}
		return nil
	})
	return record, err
}
