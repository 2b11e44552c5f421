package library

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/text"
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

// Datasets describes all datasets, ordered by ref. A dataset that cannot be listed is described as last known and marked
// unavailable.
func (l *Library) Datasets(ctx context.Context) ([]herb.Dataset, error) {
	s, err := l.current(ctx)
	if err != nil {
		return nil, err
	}
	ds := make([]herb.Dataset, 0, len(s.entries)+len(l.opts.Mutable))
	l.mu.Lock()
	for _, e := range s.entries {
		d := publicDescription(e.live)
		if v := l.listed(e); v != nil {
			d = v.dataset
		} else {
			d.Unavailable = e.failed != nil
		}
		ds = append(ds, d)
	}
	l.mu.Unlock()
	return l.withMutable(ctx, ds)
}

// Catalogued describes all datasets of the catalogue without opening any.
func (l *Library) Catalogued(ctx context.Context) ([]herb.Dataset, error) {
	ds, err := l.catalogue.Datasets(ctx)
	if err != nil {
		return nil, err
	}
	return l.withMutable(ctx, ds)
}

// withMutable adds the mutable datasets. If one does not answer, its last description is used, so that a list of all
// datasets does not wait for one of them repeatedly.
func (l *Library) withMutable(ctx context.Context, ds []herb.Dataset) ([]herb.Dataset, error) {
	for ref, mutable := range l.opts.Mutable {
		known, ask := l.mutable[ref].next(l.opts.Now())
		if ask {
			limited, cancel := context.WithTimeout(ctx, describeTimeout)
			d, err := mutable.Describe(limited)
			cancel()
			if err != nil && ctx.Err() != nil {
				return nil, err // the caller left; the dataset did not fail
			}
			if l.mutable[ref].record(d, err, l.opts.Now()) {
				l.opts.Log.Warn("cannot describe dataset; showing last known state", "dataset", ref.String(), "err", err)
			}
			if err == nil {
				known = d
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

// Limits of the work for a suggestion, because clients without a key can request unknown names.
const (
	maxNames = 1000    // names to compare with
	maxSteps = 1 << 20 // about a millisecond
)

// unknownDataset returns the error for an unknown dataset. It does not query the database.
func (l *Library) unknownDataset(ref herb.Ref, s *liveSet) error {
	var known []string
	if len(s.entries)+len(l.opts.Mutable) <= maxNames {
		for r := range s.entries {
			known = append(known, r.String())
		}
		for r := range l.opts.Mutable {
			known = append(known, r.String())
		}
	}
	return noDataset(ref, known)
}

// noDataset returns the error for an unknown dataset, with a suggestion from the known names.
func noDataset(ref herb.Ref, known []string) error {
	guess := ""
	if name, ok := suggest(ref, known); ok {
		guess = fmt.Sprintf(" did you mean %q?", name)
	}
	return herb.Errorf(herb.CodeNotFound, "no such dataset %q;%s GET /api/v1 lists all datasets", clip(ref.String()), guess)
}

// suggest returns the most similar name, unless the search would be too expensive.
func suggest(ref herb.Ref, known []string) (string, bool) {
	n := len(ref.String())
	if len(ref.Namespace) > herb.MaxName || len(ref.Name) > herb.MaxName || len(known) > maxNames || n*n*len(known) > maxSteps {
		return "", false
	}
	slices.Sort(known) // for a deterministic result
	return text.Closest(ref.String(), known)
}
