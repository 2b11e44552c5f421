package query

import (
	"context"
	"time"
)

type yieldKey struct{}

// WithYield returns a context for a long query, which calls yield after every few thousand steps with the time that these
// took. yield may wait, to leave the processors to shorter queries.
func WithYield(ctx context.Context, yield func(worked time.Duration)) context.Context {
	return context.WithValue(ctx, yieldKey{}, yield)
}

// YieldOf returns the function of WithYield; nil if there is none.
func YieldOf(ctx context.Context) func(worked time.Duration) {
	yield, _ := ctx.Value(yieldKey{}).(func(time.Duration))
	return yield
}
