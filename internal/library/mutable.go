package library

import (
	"context"
	"slices"
	"sync"
	"time"

	"herbarium/internal/herb"
)

// lastKnown is what a living dataset last said of itself.
type lastKnown struct {
	mu       sync.Mutex
	dataset  herb.Dataset
	known    bool      // it has ever said anything
	failedAt time.Time // when it last failed to say anything; zero: it did not fail the last time
}

// How long a living dataset may take to describe itself among others, and how long it is not asked after it has failed.
const (
	describeTimeout = 2 * time.Second
	describePause   = 5 * time.Second
)

// get returns what was last known, and whether the dataset should be asked now. One that has failed is asked by one at a
// time.
func (k *lastKnown) next(now time.Time) (d herb.Dataset, ask bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	d = k.dataset
	d.Unavailable = true
	if !k.failedAt.IsZero() {
		if now.Sub(k.failedAt) < describePause {
			return d, false
		}
		k.failedAt = now // the others do not wait for the one who asks
	}
	return d, true
}

// set takes down what was said.
func (k *lastKnown) recordSuccess(d herb.Dataset) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dataset, k.known, k.failedAt = d, true, time.Time{}
}

// fail takes down that nothing was said at a time, and reports whether that is new.
func (k *lastKnown) recordFailure(now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	first := k.failedAt.IsZero()
	k.failedAt = now
	return first
}

// said returns what the dataset last said of itself, if it ever did.
func (k *lastKnown) lastDescription() (d herb.Dataset, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.dataset, k.known
}

// byRef sorts descriptions by the names of their datasets.
func byRef(ds []herb.Dataset) {
	slices.SortFunc(ds, func(a, b herb.Dataset) int { return a.Ref.Compare(b.Ref) })
}

// Datasets describes everything that is served, in the order of the names. What cannot be listed at the moment is
// described as it was last known, and marked.
func (l *Library) Datasets(ctx context.Context) ([]herb.Dataset, error) {
	s, err := l.current(ctx)
	if err != nil {
		return nil, err
	}
	ds := make([]herb.Dataset, 0, len(s.entries)+len(l.opts.Mutable))
	l.mu.Lock()
	for ref, e := range s.entries {
		d := e.dataset()
		if e.open == nil {
			_, why := l.fetchState(ref, e)
			d.Unavailable = why != nil
		}
		ds = append(ds, d)
	}
	l.mu.Unlock()
	return l.withMutable(ctx, ds)
}

// Catalogued describes everything that the catalogue has, without opening any of it.
func (l *Library) Catalogued(ctx context.Context) ([]herb.Dataset, error) {
	ds, err := l.catalogue.Datasets(ctx)
	if err != nil {
		return nil, err
	}
	return l.withMutable(ctx, ds)
}

// withLiving adds the living datasets. Where one does not answer, what is known of it must do: a page about all datasets
// does not wait for one of them, again and again.
func (l *Library) withMutable(ctx context.Context, ds []herb.Dataset) ([]herb.Dataset, error) {
	for ref, living := range l.opts.Mutable {
		known, ask := l.mutable[ref].next(l.opts.Now())
		if ask {
			limited, cancel := context.WithTimeout(ctx, describeTimeout)
			d, err := living.Describe(limited)
			cancel()
			switch {
			case err == nil:
				l.mutable[ref].recordSuccess(d)
				known = d
			case ctx.Err() != nil:
				return nil, err // it is not the dataset that failed
			case l.mutable[ref].recordFailure(l.opts.Now()):
				l.opts.Log.Warn("a dataset does not describe itself; what was last known is shown", "dataset", ref.String(), "err", err)
			}
		}
		ds = append(ds, known)
	}
	byRef(ds)
	return ds, nil
}

// Describe describes one dataset of the catalogue without opening it.
func (l *Library) Describe(ctx context.Context, ref herb.Ref) (herb.Dataset, error) {
	ds, err := l.Catalogued(ctx)
	if err != nil {
		return herb.Dataset{}, err
	}
	i, ok := slices.BinarySearchFunc(ds, ref, func(d herb.Dataset, r herb.Ref) int { return d.Ref.Compare(r) })
	if !ok {
		known := make([]string, len(ds))
		for i, d := range ds {
			known[i] = d.Ref.String()
		}
		return herb.Dataset{}, noDataset(ref, known)
	}
	return ds[i], nil
}
