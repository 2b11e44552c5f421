package library

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// opening is a version that is being opened in the background, on a machine that has all files.
type opening struct {
	dataset herb.Dataset
	done    chan struct{} // closed when the version is open, failed to open, or is obsolete
}

// maxOpenings limits concurrent openings. Each reads up to smallSegment bytes.
const maxOpenings = 2

// awaited reports whether requests wait for the live version. They do not wait for a retry.
func (e *entry) awaited() bool { return e.opening != nil && e.failed == nil }

// applyLocalCatalogue makes the content of the catalogue the live set and opens new versions in the background. The first
// time, when nothing can be listed meanwhile, it opens them first. l.refresh is held.
func (l *Library) applyLocalCatalogue(generation int64, datasets []herb.Dataset) {
	if l.live.Load().generation < 0 {
		l.applyFirstCatalogue(generation, datasets)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.live.Load()
	next := &liveSet{generation: generation, entries: make(map[herb.Ref]*entry, len(datasets))}
	var started []*opening
	for _, d := range datasets {
		before := old.entries[d.Ref]
		e := &entry{live: d}
		switch {
		case before != nil && before.live.Version == d.Version:
			e = before
		case before != nil && before.open != nil && before.open.dataset.Version == d.Version: // rolled back to the open version
			e.open = before.open
		default:
			if before != nil {
				e.open = before.open
			}
			e.opening = &opening{dataset: d, done: make(chan struct{})}
			started = append(started, e.opening)
		}
		next.entries[d.Ref] = e
	}
	l.replaceLive(next)
	l.startOpenings(started)
}

// applyFirstCatalogue opens all versions and then installs them at once: replacing the live set for each of thousands of
// versions is slow.
func (l *Library) applyFirstCatalogue(generation int64, datasets []herb.Dataset) {
	entries := make([]*entry, len(datasets))
	var running sync.WaitGroup
	for i, d := range datasets {
		l.openSlots <- struct{}{}
		running.Go(func() {
			defer func() { <-l.openSlots }()
			entries[i] = l.entryOf(d, &entry{live: d}, l.tryOpen(d))
		})
	}
	running.Wait()
	next := &liveSet{generation: generation, entries: make(map[herb.Ref]*entry, len(datasets))}
	for i, d := range datasets {
		next.entries[d.Ref] = entries[i]
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replaceLive(next)
}

// startOpenings opens versions in the background. l.mu is held.
func (l *Library) startOpenings(started []*opening) {
	if len(started) == 0 {
		return
	}
	l.openings.Go(func() {
		for _, o := range started {
			l.openSlots <- struct{}{}
			l.openings.Go(func() {
				defer func() { <-l.openSlots }()
				out := openResult{err: errSuperseded}
				if l.wanted(o) {
					out = l.tryOpen(o.dataset)
				}
				l.finishOpening(o, out)
			})
		}
	})
}

// openResult is the result of an opening.
type openResult struct {
	reader *segment.Reader
	err    error
}

// errSuperseded reports that a version is no longer live.
var errSuperseded = errors.New("another version is live")

func (l *Library) tryOpen(d herb.Dataset) (out openResult) {
	defer herb.Recover(&out.err)
	out.reader, out.err = l.openFile(l.file(d.Version))
	return out
}

// entryOf returns the entry of a dataset after its live version was opened or failed to open. A version that fails to open
// does not replace an open one.
func (l *Library) entryOf(d herb.Dataset, before *entry, out openResult) *entry {
	e := &entry{live: d, open: before.open}
	if out.err != nil {
		e.failed = l.openFailure(d, before.failed, out.err)
		return e
	}
	e.open = newOpenVersion(d, out.reader)
	l.opts.Log.Info("serving version", "dataset", d.Ref.String(), "version", d.Version, "records", d.Records)
	return e
}

// wanted reports whether an opening is still that of the live version.
func (l *Library) wanted(o *opening) bool {
	e := l.live.Load().entries[o.dataset.Ref]
	return e != nil && e.opening == o
}

// finishOpening installs an opened version, or records the failure.
func (l *Library) finishOpening(o *opening, out openResult) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer close(o.done)
	if !l.wanted(o) {
		if out.reader != nil {
			_ = out.reader.Release() // unmapping fails only for what is not mapped
		}
		return
	}
	next := *l.live.Load()
	next.entries = maps.Clone(next.entries)
	next.entries[o.dataset.Ref] = l.entryOf(o.dataset, next.entries[o.dataset.Ref], out)
	l.replaceLive(&next)
}

// openFailure returns the failure to open a version and when to retry. It logs each cause once.
func (l *Library) openFailure(d herb.Dataset, before *failure, err error) *failure {
	f := &failure{version: d.Version, attempts: 1, cause: err.Error()}
	f.err = herb.Wrap(herb.CodeUnavailable, err, "cannot read dataset %s at the moment", d.Ref)
	if before != nil {
		f.attempts += before.attempts
	}
	f.retryAt = l.opts.Now().Add(backoff(f.attempts))
	if before == nil || before.cause != f.cause {
		l.opts.Log.Error("cannot open version; will retry", "dataset", d.Ref.String(),
			"version", d.Version, "err", err)
	}
	return f
}

// backoff returns the wait after a number of attempts.
func backoff(tries int) time.Duration { return min(minBackoff<<min(tries-1, 10), maxBackoff) }

// retryFailed reopens versions whose backoff is over. l.refresh is held.
func (l *Library) retryFailed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, now := l.live.Load(), l.opts.Now()
	var started []*opening
	next := *s
	for ref, e := range s.entries {
		if e.failed == nil || e.opening != nil || now.Before(e.failed.retryAt) {
			continue
		}
		if started == nil {
			next.entries = maps.Clone(s.entries)
		}
		retried := *e
		retried.opening = &opening{dataset: e.live, done: make(chan struct{})}
		next.entries[ref] = &retried
		started = append(started, retried.opening)
	}
	if started != nil {
		slices.SortFunc(started, func(a, b *opening) int { return a.dataset.Ref.Compare(b.dataset.Ref) })
		l.replaceLive(&next)
		l.startOpenings(started)
	}
}

// awaitOpening waits for an opening. It reports false after Options.Wait.
func (l *Library) awaitOpening(ctx context.Context, o *opening) (bool, error) {
	var limit <-chan time.Time
	if l.opts.Wait > 0 {
		timer := time.NewTimer(l.opts.Wait)
		defer timer.Stop()
		limit = timer.C
	}
	select {
	case <-o.done:
		return true, nil
	case <-limit:
		return false, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// awaitOpenings waits for all openings.
func (l *Library) awaitOpenings(ctx context.Context) error {
	for _, e := range l.live.Load().entries {
		if e.opening == nil {
			continue
		}
		select {
		case <-e.opening.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// acquireLocal is Acquire on a machine that has all files. It waits for the live version, so that a finished publish is
// visible to the next request; after Options.Wait it returns the previous version.
func (l *Library) acquireLocal(ctx context.Context, e *entry) (snap Snapshot, again bool, err error) {
	if e.awaited() {
		done, err := l.awaitOpening(ctx, e.opening)
		if err != nil || done {
			return Snapshot{}, done, err
		}
	}
	switch {
	case e.open != nil:
		if e.open.Acquire() {
			return e.open.snapshot(), false, nil
		}
		return Snapshot{}, true, nil // released meanwhile, so there is a newer live set
	case e.failed != nil:
		return Snapshot{}, false, e.failed.err
	}
	return Snapshot{}, false, herb.Errorf(herb.CodeUnavailable, "dataset %s is being opened; try again", e.live.Ref)
}
