package library

import (
	"context"
	"slices"
	"sync"
	"time"

	"herbarium/internal/herb"
)

// lastKnown is the last description of a mutable dataset.
type lastKnown struct {
	mu       sync.Mutex
	dataset  herb.Dataset
	known    bool      // dataset is a real description
	failedAt time.Time // time of the last failure; zero if the last call succeeded
}

// Limits of describing mutable datasets in a list of all datasets: the time for one call, and the pause after a failure.
const (
	describeTimeout = 2 * time.Second
	describePause   = 5 * time.Second
)

// next returns the last description, marked unavailable, and whether to ask the dataset now. After a failure, one caller at
// a time asks.
func (k *lastKnown) next(now time.Time) (d herb.Dataset, ask bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	d = k.dataset
	d.Unavailable = true
	if !k.failedAt.IsZero() {
		if now.Sub(k.failedAt) < describePause {
			return d, false
		}
		k.failedAt = now // other callers do not wait for this one
	}
	return d, true
}

// record stores the result of asking. It reports whether it is the first failure since the last success.
func (k *lastKnown) record(d herb.Dataset, err error, now time.Time) (firstFailure bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		k.dataset, k.known, k.failedAt = d, true, time.Time{}
		return false
	}
	firstFailure = k.failedAt.IsZero()
	k.failedAt = now
	return firstFailure
}

// lastDescription returns the last description, if there ever was one.
func (k *lastKnown) lastDescription() (d herb.Dataset, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.dataset, k.known
}

// byRef sorts descriptions by ref.
func byRef(ds []herb.Dataset) {
	slices.SortFunc(ds, func(a, b herb.Dataset) int { return a.Ref.Compare(b.Ref) })
}

// describeMutable describes a mutable dataset. If it does not answer, its last description is used, so that a list of all
// datasets does not wait for one of them repeatedly.
func (l *Library) describeMutable(ctx context.Context, ref herb.Ref) (herb.Dataset, error) {
	known, ask := l.mutable[ref].next(l.opts.Now())
	if !ask {
		return known, nil
	}
	limited, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	d, err := l.opts.Mutable[ref].Describe(limited)
	if err != nil && ctx.Err() != nil {
		return herb.Dataset{}, err // the caller left; the dataset did not fail
	}
	if l.mutable[ref].record(d, err, l.opts.Now()) {
		l.opts.Log.Warn("cannot describe dataset; showing last known state", "dataset", ref.String(), "err", err)
	}
	if err != nil {
		return known, nil
	}
	return d, nil
}
