package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// preparation has the tables brought up to date before they are used. The database may be away when a node starts, so
// this is done by the first call that needs them, and again by the next one as long as it fails.
type preparation struct {
	migrate func(context.Context) error

	done   atomic.Bool
	mu     sync.Mutex
	run    *preparing // nil unless one is under way
	closed bool
}

// preparing is one attempt, for which any number of calls may wait.
type preparing struct {
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // set before ended is closed
}

var errClosed = errors.New("the database is closed")

// wait returns once the tables are up to date, the attempt under way has failed or the context has ended. An attempt goes
// on when those who wait for it leave: bringing tables up to date may take longer than one request may wait.
func (p *preparation) wait(ctx context.Context) error {
	if p.done.Load() {
		return nil
	}
	run := p.join(ctx)
	if run == nil {
		return errClosed
	}
	select {
	case <-run.ended:
		return run.err
	case <-ctx.Done():
		return fmt.Errorf("waiting until the tables of the database are up to date: %w", ctx.Err())
	}
}

// join returns the attempt under way, or begins one.
func (p *preparation) join(ctx context.Context) *preparing {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.run != nil {
		return p.run
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	run := &preparing{cancel: cancel, ended: make(chan struct{})}
	p.run = run
	go func() {
		defer close(run.ended)
		defer cancel()
		if !p.done.Load() { // the one before may have ended just now
			run.err = p.migrate(ctx)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.run = nil
		if run.err == nil {
			p.done.Store(true)
		}
	}()
	return run
}

// close ends the attempt under way and waits for its end.
func (p *preparation) close() {
	p.mu.Lock()
	run := p.run
	p.closed = true
	p.mu.Unlock()
	if run != nil {
		run.cancel()
		<-run.ended
	}
}
