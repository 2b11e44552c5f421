package segmenttest

import (
	"context"
	"time"

	"herbarium/internal/query"
)

// Pacer counts what queries report and reserve. It is a query.Pacer for tests, of one goroutine.
type Pacer struct {
	Yields, Steps int
	Most          int   // steps in one report
	Held, Peak    int   // reserved bytes
	Err           error // returned by Yield
	Full          error // returned by Reserve
}

// Yield implements query.Pacer.
func (p *Pacer) Yield(_ context.Context, steps int, _ time.Duration) error {
	p.Yields++
	p.Steps += steps
	p.Most = max(p.Most, steps)
	return p.Err
}

// Reserve implements query.Pacer.
func (p *Pacer) Reserve(_ context.Context, bytes int) (release func(), err error) {
	if p.Full != nil {
		return nil, p.Full
	}
	p.Held += bytes
	p.Peak = max(p.Peak, p.Held)
	return func() { p.Held -= bytes }, nil
}

// Idle implements query.Pacer.
func (p *Pacer) Idle() {}

// Wait implements query.Pacer. It has no limit.
func (p *Pacer) Wait(ctx context.Context, _ time.Duration, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Background implements query.Pacer.
func (p *Pacer) Background() query.BackgroundPacer { return p }

// Begin implements query.BackgroundPacer.
func (p *Pacer) Begin(context.Context) error { return nil }

// End implements query.BackgroundPacer.
func (p *Pacer) End() {}
