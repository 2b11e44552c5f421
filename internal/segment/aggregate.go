package segment

import (
	"context"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/aggregate"
	"herbarium/internal/segment/internal/guard"
)

// recordBytesPerStep is the number of bytes of a record that are read in a step to find a value.
const recordBytesPerStep = 64

// Aggregate computes measures of groups of the records that match a request.
func (r *Reader) Aggregate(ctx context.Context, q *query.AggregateRequest) (result query.Aggregate, err error) {
	err = r.aggregate(ctx, q, func(_ *guard.Steps, found *aggregate.Result) (err error) {
		result, err = found.Collect()
		return err
	})
	return result, err
}

// StreamGroups computes the groups of the records that match a request. Their labels and values are
// computed while they are read, some groups at a time, under guard, which is possible until the
// segment is released.
func (r *Reader) StreamGroups(ctx context.Context, q *query.AggregateRequest) (s query.GroupStream, err error) {
	err = r.aggregate(ctx, q, func(st *guard.Steps, found *aggregate.Result) error {
		s = query.GroupStream{Groups: found.Groups, Len: found.Len(), Release: st.Detach()}
		s.Rows = yieldChunks(st, r.file.Guard, func() func() []query.GroupRow {
			next := 0
			return func() (rows []query.GroupRow) {
				for size := 0; next < found.Len() && size < streamBytes; next++ {
					row, n := found.Row(next)
					rows, size = append(rows, row), size+n+rowOverhead
				}
				return rows
			}
		})
		return nil
	})
	return s, err
}

// rowOverhead is the memory of a group of a stream beside its texts.
const rowOverhead = 160

func (r *Reader) aggregate(ctx context.Context, q *query.AggregateRequest,
	read func(*guard.Steps, *aggregate.Result) error) error {
	return r.evaluate(ctx, q.Request, forCounting, nil, func(m *matches) error {
		in := aggregate.Input{Fields: r.Fields(), Columns: r.columns, Records: r.Len(), Set: m.selection()}
		in.Value = func(record uint32, field int) string {
			m.steps.Add(len(r.records.JSON(record)) / recordBytesPerStep)
			return r.records.Value(record, field)
		}
		found, err := aggregate.Run(m.steps, q, in)
		if err != nil {
			return err
		}
		return read(m.steps, found)
	})
}
