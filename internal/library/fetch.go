package library

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"herbarium/internal/herb"
)

// fetch is the transfer of one version of a dataset to this node. Each dataset has at most one at a time.
type fetch struct {
	dataset   herb.Dataset
	sequence  int64         // of the live set that started it
	received  atomic.Int64  // bytes
	requested chan struct{} // closed when the first request waits
	done      chan struct{} // closed when the fields below are final

	waiting int          // waiting requests; each gets a reference to the version
	opened  *openVersion // nil if the fetch failed
	err     error
}

// failure records why a version could not be fetched or opened.
type failure struct {
	version  string
	err      error
	cause    string // of err, to log it once; used without Blobs only
	attempts int
	retryAt  time.Time // earliest next attempt
}

// Backoff between attempts to fetch or open a version.
const (
	minBackoff = time.Second
	maxBackoff = time.Minute
)

// awaitFetch returns a version of a dataset that is not open on this node, once it was fetched.
func (l *Library) awaitFetch(ctx context.Context, ref herb.Ref) (Snapshot, error) {
	limited := ctx
	if l.opts.Wait > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, l.opts.Wait)
		defer cancel()
	}
	for {
		f, snap, err := l.joinFetch(ref)
		if f == nil {
			return snap, err
		}
		select {
		case <-f.done:
		case <-limited.Done():
			l.leaveFetch(f)
			if ctx.Err() != nil {
				return Snapshot{}, context.Cause(ctx)
			}
			return Snapshot{}, f.inProgressError()
		}
		if f.err == nil {
			return f.opened.snapshot(), nil
		}
		if e := l.live.Load().entries[ref]; e != nil && e.live.Version == f.dataset.Version {
			return Snapshot{}, f.err
		}
		// Another version went live meanwhile, or the dataset was removed.
	}
}

// inProgressError is the error for a request whose wait has ended.
func (f *fetch) inProgressError() error {
	part := ""
	if file := f.dataset.File; file != nil && file.Size > 0 {
		part = " (" + percent(f.received.Load(), file.Size) + " done)"
	}
	return herb.Errorf(herb.CodeUnavailable, "dataset %s is being fetched%s; try again", f.dataset.Ref, part)
}

// joinFetch adds a request to the fetch of a dataset, and starts the fetch if there is none. If no fetch is needed or
// possible, it returns a snapshot or an error instead.
func (l *Library) joinFetch(ref herb.Ref) (*fetch, Snapshot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.live.Load().entries[ref]
	switch {
	case l.cache.closed:
		return nil, Snapshot{}, herb.Errorf(herb.CodeUnavailable, "cannot fetch dataset %s: the server is stopping", ref)
	case e == nil:
		return nil, Snapshot{}, noDataset(ref, nil)
	}
	if e.open != nil && e.open.Acquire() {
		l.cache.touch(e.open)
		return nil, e.open.snapshot(), nil
	}
	f := l.cache.fetches[ref]
	if f == nil {
		if failed := l.cache.pendingFailure(e, l.opts.Now()); failed != nil {
			return nil, Snapshot{}, failed.err
		}
		f = l.startFetch(e)
	}
	if f.waiting++; f.waiting == 1 {
		select {
		case <-f.requested: // earlier requests waited and left
		default:
			close(f.requested)
		}
	}
	return f, Snapshot{}, nil
}

// leaveFetch removes a request that stops waiting. The fetch continues.
func (l *Library) leaveFetch(f *fetch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f.waiting--
	if f.opened != nil { // it arrived too late; drop the reference
		_ = f.opened.Release()
	}
}

// startFetch starts fetching the live version of a dataset. It returns nil if the library is closed. l.mu is held.
func (l *Library) startFetch(e *entry) *fetch {
	f := &fetch{dataset: e.live, sequence: l.live.Load().sequence, requested: make(chan struct{}), done: make(chan struct{})}
	ok := l.cache.spawn(func(ctx context.Context) {
		v, err := l.openOrFetch(ctx, f)
		l.finishFetch(ctx, f, v, err)
	})
	if !ok {
		return nil
	}
	l.cache.fetches[e.live.Ref] = f
	return f
}

// fetchIfOutdated starts fetching the live version if an older one is open, unless a fetch runs or is deferred. l.mu is
// held.
func (l *Library) fetchIfOutdated(e *entry) {
	if e.open != nil && !e.current() && l.cache.fetches[e.live.Ref] == nil && l.cache.pendingFailure(e, l.opts.Now()) == nil {
		l.startFetch(e)
	}
}

// finishFetch installs the result of a fetch, or records its failure.
func (l *Library) finishFetch(ctx context.Context, f *fetch, v *openVersion, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ref, c := f.dataset.Ref, l.cache
	delete(c.fetches, ref)
	if f.opened = v; err != nil {
		f.err = herb.Wrap(herb.CodeUnavailable, err, "cannot fetch dataset %s; try again", ref)
		if ctx.Err() == nil {
			l.recordFetchFailure(f, err)
		}
	} else {
		delete(c.failures, ref)
		for range f.waiting {
			v.Acquire()
		}
		l.installFetched(f, v)
	}
	close(f.done)
	if e := l.live.Load().entries[ref]; e != nil {
		l.fetchIfOutdated(e)
	}
}

// installFetched makes a fetched version the open one, unless a later one is open. A version that is no longer live still
// replaces an older one: where versions are published faster than they can be fetched, the latest fetched one is listed.
// l.mu is held.
func (l *Library) installFetched(f *fetch, v *openVersion) {
	e := l.live.Load().entries[f.dataset.Ref]
	if e == nil || e.open != nil && e.open.sequence >= f.sequence {
		_ = v.Release()
		return
	}
	v.sequence = f.sequence
	l.cache.touch(v)
	l.setOpen(f.dataset.Ref, v)
	l.opts.Log.Info("serving version", "dataset", f.dataset.Ref.String(), "version", f.dataset.Version, "records", f.dataset.Records)
}

// recordFetchFailure records a failed fetch and when to retry. It logs when the kind of failure changes. l.mu is held.
func (l *Library) recordFetchFailure(f *fetch, err error) {
	now := failure{version: f.dataset.Version, err: f.err, attempts: 1}
	before := l.cache.failures[f.dataset.Ref]
	if before != nil && before.version == now.version {
		now.attempts += before.attempts
	}
	wait := backoff(now.attempts)
	now.retryAt = l.opts.Now().Add(wait/2 + rand.N(wait/2)) // jitter: nodes that failed together should not retry together
	l.cache.failures[f.dataset.Ref] = &now
	if now.attempts == 1 || failureKind(before.err) != failureKind(f.err) {
		l.opts.Log.Error("cannot fetch version; will retry", "dataset", f.dataset.Ref.String(),
			"version", f.dataset.Version, "object", objectName(f.dataset.Version), "err", err)
	}
}

// applySharedCatalogue makes the content of the catalogue the live set. An open version stays open until the live one was
// fetched. l.refresh is held.
func (l *Library) applySharedCatalogue(generation int64, datasets []herb.Dataset) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.live.Load()
	next := &liveSet{generation: generation, sequence: old.sequence + 1, entries: make(map[herb.Ref]*entry, len(datasets))}
	for _, d := range datasets {
		e := &entry{live: d}
		if before := old.entries[d.Ref]; before != nil {
			e.open = before.open
		}
		if e.current() {
			e.open.sequence = next.sequence
		}
		next.entries[d.Ref] = e
	}
	for ref := range l.cache.failures {
		if next.entries[ref] == nil {
			delete(l.cache.failures, ref)
		}
	}
	l.replaceLive(next)
	for _, e := range next.entries {
		l.fetchIfOutdated(e)
	}
}
