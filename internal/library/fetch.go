package library

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"herbarium/internal/herb"
)

// fetch brings one version of a dataset to this node. There is at most one of each dataset at a time.
type fetch struct {
	dataset   herb.Dataset
	sequence  int64         // of the shelf that wanted it
	received  atomic.Int64  // bytes
	requested chan struct{} // closed when a request waits
	done      chan struct{} // closed when the rest is decided

	waiting int          // requests; each is given a hold of the volume
	opened  *openVersion // nil: it failed
	err     error
}

// failure is why a version was not fetched.
type failure struct {
	version  string
	err      error
	cause    string // of err, to log it once; used without Blobs
	attempts int
	retryAt  time.Time // not before
}

// The waits between two attempts to fetch a version.
const (
	minBackoff = time.Second
	maxBackoff = time.Minute
)

// await returns a version of a dataset that is not open on this node when it was fetched.
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
		// Another version is live by now, or none.
	}
}

// underWay is the error for those who do not wait any longer.
func (f *fetch) inProgressError() error {
	part := ""
	if file := f.dataset.File; file != nil && file.Size > 0 {
		part = " (" + percent(f.received.Load(), file.Size) + " are here)"
	}
	return herb.Errorf(herb.CodeUnavailable, "dataset %s is being fetched to this server%s; try again in a moment", f.dataset.Ref, part)
}

// join waits for the fetch of a dataset together with others, and begins it if it is the first. Where that is not to be,
// it returns no fetch but a snapshot or an error.
func (l *Library) joinFetch(ref herb.Ref) (*fetch, Snapshot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.live.Load().entries[ref]
	switch {
	case l.cache.closed:
		return nil, Snapshot{}, herb.Errorf(herb.CodeUnavailable, "dataset %s cannot be fetched to this server, which is stopping", ref)
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
		case <-f.requested: // others have waited and left
		default:
			close(f.requested)
		}
	}
	return f, Snapshot{}, nil
}

// leave is for a request that does not wait any longer. The fetch goes on.
func (l *Library) leaveFetch(f *fetch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f.waiting--
	if f.opened != nil { // it came too late, with a hold
		_ = f.opened.Release()
	}
}

// begin begins to fetch the live version of a dataset; nil: the library is closed. l.mu is held.
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

// update begins to fetch the live version of a dataset of which another is open, if nothing is in the way. l.mu is held.
func (l *Library) fetchIfOutdated(e *entry) {
	if e.open != nil && !e.current() && l.cache.fetches[e.live.Ref] == nil && l.cache.pendingFailure(e, l.opts.Now()) == nil {
		l.startFetch(e)
	}
}

// finish decides a fetch.
func (l *Library) finishFetch(ctx context.Context, f *fetch, v *openVersion, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ref, c := f.dataset.Ref, l.cache
	delete(c.fetches, ref)
	if f.opened = v; err != nil {
		f.err = herb.Wrap(herb.CodeUnavailable, err, "dataset %s cannot be fetched to this server at the moment; try again", ref)
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

// install puts a volume on the shelf unless what is there came later, as the catalogue has it. A version that is not live
// any more is better than the one before it: where versions come faster than they can be fetched, the last that came is
// listed. l.mu is held.
func (l *Library) installFetched(f *fetch, v *openVersion) {
	e := l.live.Load().entries[f.dataset.Ref]
	if e == nil || e.open != nil && e.open.sequence >= f.sequence {
		_ = v.Release()
		return
	}
	v.sequence = f.sequence
	l.cache.touch(v)
	l.setOpen(f.dataset.Ref, v)
	l.opts.Log.Info("serving", "dataset", f.dataset.Ref.String(), "version", f.dataset.Version, "records", f.dataset.Records)
}

// blame takes down that a fetch has failed, and when it is tried again. The log is told when the reason is another than
// the last time. l.mu is held.
func (l *Library) recordFetchFailure(f *fetch, err error) {
	now := failure{version: f.dataset.Version, err: f.err, attempts: 1}
	before := l.cache.failures[f.dataset.Ref]
	if before != nil && before.version == now.version {
		now.attempts += before.attempts
	}
	wait := backoff(now.attempts)
	now.retryAt = l.opts.Now().Add(wait/2 + rand.N(wait/2)) // nodes that failed together should not come back together
	l.cache.failures[f.dataset.Ref] = &now
	if now.attempts == 1 || failureKind(before.err) != failureKind(f.err) {
		l.opts.Log.Error("a version cannot be fetched; it is tried again", "dataset", f.dataset.Ref.String(),
			"version", f.dataset.Version, "object", objectName(f.dataset.Version), "err", err)
	}
}

// want puts on the shelf what the catalogue has. What is open stays open until the version that is wanted is there.
// l.refresh is held.
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
