package segment

import (
	"context"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/aggregate"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
)

// Aggregate computes measures of groups of the records that match a request.
func (r *Reader) Aggregate(ctx context.Context, q *query.AggregateRequest) (query.Aggregate, error) {
	return r.union().Aggregate(ctx, q)
}

// recordBytesPerStep is the number of bytes of a record that are read in a step to find a value.
const recordBytesPerStep = 64

// Aggregate computes measures of groups of the records that match a request, as Reader.Aggregate
// does.
func (u *Union) Aggregate(ctx context.Context, q *query.AggregateRequest) (result query.Aggregate, err error) {
	err = runQuery(ctx, u.guard, u.Segments, q.Request, func(st *guard.Steps) error {
		u.announceCounting(st)
		m := u.matchForFacets(st, q.Request)
		defer m.release()
		in := aggregate.Input{Fields: u.Tail.fields, Meets: meetsConditions}
		for i, r := range u.Segments {
			in.Parts = append(in.Parts, aggregate.Part{Columns: r.columns, Records: r.Len(), Set: m.segments[i]})
		}
		for _, row := range m.tail {
			in.Tail = append(in.Tail, row.record)
		}
		in.Value = func(part int, record uint32, field int) string {
			if part == len(u.Segments) {
				return in.Tail[record][field]
			}
			r := u.Segments[part]
			st.Add(len(r.records.JSON(record)) / recordBytesPerStep)
			return r.records.Value(record, field)
		}
		var err error
		result, err = aggregate.Run(st, q, in)
		return err
	})
	return result, err
}

// meetsConditions reports whether a record in memory meets conditions.
func meetsConditions(fields []herb.Field, record herb.Record, conditions []query.Condition) bool {
	row := &tailRow{record: record, keys: make([]column.SortKey, len(fields))}
	for i := range fields {
		row.keys[i], _ = column.NewSortKey(&fields[i], record[i]) // measures have valid values
	}
	return row.meets(fields, conditions)
}
