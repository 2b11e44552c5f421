package changes

import (
	"context"
	"time"

	"herbarium/internal/query"
)

// pace reports the work of reading changes to the pacer of its context.
type pace struct {
	ctx   context.Context
	steps int
	since time.Time
}

func newPace(ctx context.Context) *pace { return &pace{ctx: ctx, since: time.Now()} }

// add counts steps, and fails if the request is canceled or may not continue.
func (p *pace) add(steps int) error {
	const perReport = 4096
	p.steps += steps
	if p.steps < perReport {
		return nil
	}
	if err := p.ctx.Err(); err != nil {
		return context.Cause(p.ctx)
	}
	err := query.Yield(p.ctx, p.steps, time.Since(p.since))
	p.steps, p.since = 0, time.Now()
	return err
}

// resume begins to measure the time again, after a client has read what was yielded.
func (p *pace) resume() { p.since = time.Now() }
