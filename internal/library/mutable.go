package library

import (
	"context"
	"sync"
	"time"

	"herbarium/internal/herb"
)

// lastKnown is the last description of the mutable dataset.
type lastKnown struct {
	mu       sync.Mutex
	dataset  herb.Dataset
	known    bool      // dataset is a real description
	failedAt time.Time // time of the last failure; zero if the last call succeeded
}

// Limits of describing the mutable dataset in a list of all datasets: the time for one call, and the pause after a failure.
const (
	describeTimeout = 2 * time.Second
	describePause   = 5 * time.Second
)

// describePlants describes the mutable dataset. If the database fails, it returns the last description, marked unavailable.
// After a failure, one caller at a time retries, so that lists of all datasets do not wait for it repeatedly.
func (l *Library) describePlants(ctx context.Context) (herb.Dataset, error) {
	k := &l.plants
	k.mu.Lock()
	last, now := k.dataset, l.opts.Now()
	last.Unavailable = true
	if !k.failedAt.IsZero() {
		if now.Sub(k.failedAt) < describePause {
			k.mu.Unlock()
			return last, nil
		}
		k.failedAt = now // other callers do not wait for this one
	}
	k.mu.Unlock()
	limited, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	d, err := l.opts.Plants.Describe(limited)
	if err != nil && ctx.Err() != nil {
		return herb.Dataset{}, err // canceled by the caller; the dataset did not fail
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		k.dataset, k.known, k.failedAt = d, true, time.Time{}
		return d, nil
	}
	if k.failedAt.IsZero() {
		l.opts.Log.Warn("cannot describe dataset; showing last known state", "dataset", last.Ref.String(), "err", err)
	}
	k.failedAt = l.opts.Now()
	return last, nil
}
