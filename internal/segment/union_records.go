package segment

import (
	"context"
	"iter"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/guard"
)

// Records yields all records in dataset order. An error ends the sequence.
func (r *Reader) Records(ctx context.Context) iter.Seq2[herb.Record, error] {
	return func(yield func(herb.Record, error) bool) {
		st := guard.NewSteps(ctx)
		var chunk []herb.Record
		for from := 0; from < r.Len(); from += streamNumbers {
			err := r.file.Guard(func() error {
				st.Check()
				chunk = chunk[:0]
				for n := from; n < min(from+streamNumbers, r.Len()); n++ {
					record := make(herb.Record, len(r.columns))
					for i := range record {
						record[i] = r.records.Value(uint32(n), i)
					}
					chunk = append(chunk, record)
				}
				return nil
			})
			if err != nil {
				yield(nil, err)
				return
			}
			for _, record := range chunk {
				if !yield(record, nil) {
					return
				}
			}
		}
	}
}
