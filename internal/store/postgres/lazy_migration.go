package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// lazyMigration applies schema migrations before the first use of the tables. The database may be down when a node starts,
// so the first call that needs the tables does it, and the next one retries after a failure.
type lazyMigration struct {
	migrate func(context.Context) error

	done   atomic.Bool
	mu     sync.Mutex
	run    *migrationRun // nil unless one is running
	closed bool
}

// migrationRun is one attempt, for which any number of calls may wait.
type migrationRun struct {
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // set before ended is closed
}

var errClosed = errors.New("the database is closed")

// wait returns once the schema is up to date, the running attempt has failed or the context has ended. An attempt continues
// when its callers leave: a migration may take longer than one request may wait.
func (p *lazyMigration) wait(ctx context.Context) error {
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
		return fmt.Errorf("waiting for schema migrations: %w", ctx.Err())
	}
}

// join returns the running attempt, or starts one.
func (p *lazyMigration) join(ctx context.Context) *migrationRun {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.run != nil {
		return p.run
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	run := &migrationRun{cancel: cancel, ended: make(chan struct{})}
	p.run = run
	go func() {
		defer close(run.ended)
		defer cancel()
		if !p.done.Load() { // the previous attempt may have just ended
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

// close cancels the running attempt and waits for its end.
func (p *lazyMigration) close() {
	p.mu.Lock()
	run := p.run
	p.closed = true
	p.mu.Unlock()
	if run != nil {
		run.cancel()
		<-run.ended
	}
}
