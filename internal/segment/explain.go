package segment

import (
	"context"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/guard"
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
	err = r.file.Guard(func() error {
		_, e.Total = r.findPage(guard.NewSteps(ctx), q, func(s Step) { e.Steps = append(e.Steps, s) })
		return nil
	})
	return e, err
}
