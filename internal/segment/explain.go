package segment

import (
	"context"
	"fmt"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/plan"
)

// Stage is a part of the evaluation of a listing, such as a condition.
type Stage = plan.Stage

// Explanation describes how a listing was computed.
type Explanation struct {
	Total  int // matching records
	Stages []Stage
}

// Explain computes a listing and returns the stages. It computes the listing twice and measures the
// second time, so that times do not include reading the file from disk.
func (r *Reader) Explain(ctx context.Context, q *query.Request) (e Explanation, err error) {
	if _, err := r.List(ctx, q); err != nil {
		return e, err
	}
	var trace plan.Trace = func(s Stage) { e.Stages = append(e.Stages, s) }
	err = r.evaluate(ctx, q, forListing, trace, func(m *matches) error {
		e.Total = m.len()
		if from, to := m.pageRange(); from < to {
			trace.Measure(fmt.Sprintf("records %d to %d", from+1, to), m.describeOrder(),
				func() int { return len(m.records(from, to)) })
		}
		return nil
	})
	return e, err
}
