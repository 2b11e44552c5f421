package query

import (
	"context"
	"math"
	"time"
)

// Pacer schedules the work of one request: engines report what queries cost, and the caller decides
// when they continue. It is used by one goroutine at a time.
type Pacer interface {
	// Yield is called by a query every few thousand steps, with their number and the time that they
	// took. A number far above that announces steps that follow. It may block to leave the
	// processors to shorter queries. If it returns an error, the query fails with it.
	Yield(ctx context.Context, steps int, worked time.Duration) error
	// Reserve reserves about as many bytes as the request needs for what it does next. It fails if
	// the server has no memory for it. The caller calls release when the bytes are no longer
	// needed.
	Reserve(ctx context.Context, bytes int) (release func(), err error)
	// Idle is called before the request waits for something other than the processors, such as a
	// file system.
	Idle()
	// Wait blocks until done is closed, but no longer than limit in total for all calls of a
	// request. The request holds no slot of the server meanwhile. It fails if ctx is done, or if
	// the server has no slot for the request afterwards.
	Wait(ctx context.Context, limit time.Duration, done <-chan struct{}) error
	// Background returns a pacer for work on behalf of the client of the request that goes on when
	// the request has ended.
	Background() BackgroundPacer
}

// BackgroundPacer schedules work that goes on when the request that started it has ended.
type BackgroundPacer interface {
	Pacer
	// Begin waits for a slot until ctx is done.
	Begin(ctx context.Context) error
	// End releases the slot.
	End()
}

type pacerKey struct{}

// WithPacer returns a context whose queries report to a pacer.
func WithPacer(ctx context.Context, p Pacer) context.Context {
	return context.WithValue(ctx, pacerKey{}, p)
}

// PacerOf returns the pacer of a context, or nil.
func PacerOf(ctx context.Context) Pacer {
	p, _ := ctx.Value(pacerKey{}).(Pacer)
	return p
}

// Yield reports work to the pacer of a context, if there is one.
func Yield(ctx context.Context, steps int, worked time.Duration) error {
	if p := PacerOf(ctx); p != nil {
		return p.Yield(ctx, steps, worked)
	}
	return nil
}

// Reserve reserves bytes from the pacer of a context, if there is one.
func Reserve(ctx context.Context, bytes int) (release func(), err error) {
	if p := PacerOf(ctx); p != nil {
		return p.Reserve(ctx, bytes)
	}
	return func() {}, nil
}

// Wait blocks until done is closed, but no longer than a limit; negative: none. The request of a
// context with a pacer holds no slot meanwhile, see Pacer.Wait.
func Wait(ctx context.Context, limit time.Duration, done <-chan struct{}) error {
	if limit < 0 {
		limit = math.MaxInt64
	}
	if p := PacerOf(ctx); p != nil {
		return p.Wait(ctx, limit, done)
	}
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	select {
	case <-done:
	case <-timeout.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// Idle reports to the pacer of a context, if there is one, that the request waits.
func Idle(ctx context.Context) {
	if p := PacerOf(ctx); p != nil {
		p.Idle()
	}
}
