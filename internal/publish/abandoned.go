package publish

import (
	"context"
	"errors"
	"sync"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
	"herbarium/internal/versions"
)

// sweepEvery is the interval at which Run looks for publishes of servers that have died.
const sweepEvery = 5 * time.Second

// Run ends publishes of servers that have died until ctx is done. It also removes the files that
// they have left, once.
func (q *Queue) Run(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	sweep := sync.OnceFunc(func() {
		if err := q.opts.Versions.Sweep(ctx); err != nil {
			q.opts.Log.Warn("cannot remove files of interrupted publishes; will retry", "err", err)
		}
	})
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			sweep()
			q.endAbandoned(ctx)
		}
	}
}

// endAbandoned ends the publishes whose servers have died, so that the audit log has them even if
// their clients do not ask.
func (q *Queue) endAbandoned(ctx context.Context) {
	all, err := q.opts.Store.AbandonedPublishes(ctx, q.opts.Now().Add(-lease))
	for _, stored := range all {
		if q.runningPublish(stored.ID) == nil { // otherwise it was not renewed because the database was down
			_, failed := q.abandon(ctx, stored)
			err = errors.Join(err, failed)
		}
	}
	if err != nil && ctx.Err() == nil {
		q.opts.Log.Warn("cannot end publishes of servers that have died; will retry", "err", err)
	}
}

// abandon ends a publish whose server has died, and records that in the audit log.
func (q *Queue) abandon(ctx context.Context, stored store.Publish) (Publish, error) {
	p, err := decodeStored(stored)
	if err != nil {
		return Publish{}, err
	}
	ended, now := p, q.opts.Now()
	ended.State, ended.Progress, ended.Updated = StateFailed, nil, now.UTC().Truncate(time.Millisecond)
	ended.Code = herb.CodeUnavailable
	ended.Result = &versions.Result{
		Dataset: p.Dataset, Status: versions.StatusFailed,
		Error: "the server stopped during the publish; nothing has changed; send the file again",
	}
	var entry *herb.AuditEntry
	if !p.Check {
		entry = &herb.AuditEntry{
			Time: now, Action: herb.AuditPublished, Subject: p.Dataset, Result: herb.AuditFailed,
			Detail: "reason: the server stopped",
		}
	}
	switch ok, err := q.opts.Store.EndPublish(herb.WithActor(ctx, p.Actor), ended.encode(now), stored.Updated, entry); {
	case err != nil:
		return Publish{}, err
	case !ok:
		return p.Publish, nil // it was renewed meanwhile
	}
	return ended.Publish, nil
}
