package segment

import (
	"context"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/aggregate"
)

// recordBytesPerStep is the number of bytes of a record that are read in a step to find a value.
const recordBytesPerStep = 64

// Aggregate computes measures of groups of the records that match a request.
func (u *Union) Aggregate(ctx context.Context, q *query.AggregateRequest) (result query.Aggregate, err error) {
	err = u.evaluate(ctx, q.Request, forCounting, nil, func(m *matches) (err error) {
		in := aggregate.Input{Fields: u.fields()}
		for _, s := range m.segments {
			in.Parts = append(in.Parts, aggregate.Part{Columns: s.r.columns, Records: s.r.Len(), Set: s.selection()})
		}
		in.Value = func(part int, record uint32, field int) string {
			records := u.Segments[part].records
			m.steps.Add(len(records.JSON(record)) / recordBytesPerStep)
			return records.Value(record, field)
		}
		result, err = aggregate.Run(m.steps, q, in)
		return err
	})
	return result, err
}
