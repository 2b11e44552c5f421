package app

import (
	"context"
	"errors"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// overdueEvery is the interval at which a server looks for datasets that have become overdue.
const overdueEvery = time.Minute

// announceOverdue stores an event for each dataset that becomes overdue, until ctx is done. All
// nodes do so; the database stores each event once.
func (d *Data) announceOverdue(ctx context.Context) error {
	tick := time.NewTicker(overdueEvery)
	defer tick.Stop()
	var announced map[herb.Ref]string
	for failed := false; ; {
		var err error
		announced, err = d.announceOverdueAt(ctx, time.Now(), announced)
		if err != nil && !failed && ctx.Err() == nil { // once, not every minute while the database is down
			d.Log.Warn("cannot store the event of an overdue dataset; will retry", "err", err)
		}
		failed = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// announceOverdueAt stores the events of the live versions that are overdue at a time, except of
// those that were announced, and returns these with the new ones.
func (d *Data) announceOverdueAt(ctx context.Context, now time.Time, announced map[herb.Ref]string) (
	map[herb.Ref]string, error) {
	live, err := d.Library.Live(ctx)
	if err != nil {
		return announced, err
	}
	all := map[herb.Ref]string{}
	for _, v := range live {
		f := v.FreshnessAt(now)
		if f.State != herb.Overdue || now.Sub(f.Overdue) > store.OverdueRetention {
			continue
		}
		if announced[v.Ref] != v.Version {
			failed := d.Store.AddOverdue(ctx, v)
			if failed != nil {
				err = errors.Join(err, failed)
				continue
			}
		}
		all[v.Ref] = v.Version
	}
	return all, err
}
