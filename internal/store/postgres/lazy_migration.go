package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/singleflight"
)

// lazyMigration applies schema migrations before the first use of the tables. The database may be down when a node starts,
// so the first call that needs the tables does it, and the next one retries after a failure.
type lazyMigration struct {
	migrate func(context.Context) error
	done    atomic.Bool
	running singleflight.Group
	closed  context.Context
	cancel  context.CancelFunc
}

func newLazyMigration(migrate func(context.Context) error) *lazyMigration {
	p := &lazyMigration{migrate: migrate}
	p.closed, p.cancel = context.WithCancel(context.Background())
	return p
}

var errClosed = errors.New("the database is closed")

// wait returns once the schema is up to date, the running attempt has failed or ctx is done. The attempt continues after its
// callers have returned: a migration may take longer than one request may wait.
func (p *lazyMigration) wait(ctx context.Context) error {
	if p.done.Load() {
		return nil
	}
	select {
	case attempt := <-p.running.DoChan("", p.run):
		return attempt.Err
	case <-ctx.Done():
		return fmt.Errorf("waiting for schema migrations: %w", ctx.Err())
	}
}

func (p *lazyMigration) run() (_ any, err error) {
	switch {
	case p.done.Load(): // the previous attempt may have just ended
	case p.closed.Err() != nil:
		err = errClosed
	default:
		err = p.migrate(p.closed)
		p.done.Store(err == nil)
	}
	return nil, err
}

// close cancels the running attempt and waits for its end.
func (p *lazyMigration) close() {
	p.cancel()
	<-p.running.DoChan("", p.run)
}
