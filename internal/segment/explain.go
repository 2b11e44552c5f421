package segment

import (
	"context"
	"fmt"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/plan"
)

// Step is a step in which a listing is computed.
type Step = plan.Step

// Explanation describes how a listing was computed.
type Explanation struct {
	Total int // matching records
	Steps []Step
}

// Explain computes a listing and returns the steps. It computes the listing twice and measures the
// second time, so that times do not include reading the file from disk.
func (r *Reader) Explain(ctx context.Context, q *query.Request) (e Explanation, err error) {
	if _, err := r.List(ctx, q); err != nil {
		return e, err
	}
	var trace plan.Trace = func(s Step) { e.Steps = append(e.Steps, s) }
	err = r.evaluate(ctx, q, forListing, trace, func(m *matches) error {
		e.Total = m.len()
		if from, to := m.pageRange(); from < to {
			trace.Measure(fmt.Sprintf("records %d to %d", from+1, to), m.describeOrder(), func() int { return len(m.records(from, to)) })
		}
		return nil
	})
	return e, err
}
