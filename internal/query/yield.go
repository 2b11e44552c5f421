package query

import (
	"context"
	"time"
)

type yieldKey struct{}

// WithYield returns a context for a long-running query, which calls yield every few thousand steps with the time they
// took. yield may block to leave the processors to shorter queries.
func WithYield(ctx context.Context, yield func(worked time.Duration)) context.Context {
	return context.WithValue(ctx, yieldKey{}, yield)
}

// YieldOf returns the function set by WithYield, or nil.
func YieldOf(ctx context.Context) func(worked time.Duration) {
	yield, _ := ctx.Value(yieldKey{}).(func(time.Duration))
	return yield
}
