package library

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"herbarium/internal/background"
	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// Limits of concurrent fetches.
const (
	maxPrefetches       = 2
	maxRequestedFetches = 4
	maxFetches          = 100 // that wait for their turn, unless requests wait for them
)

// fetcher opens versions in the background, one fetch each, and puts them in the table: a few at a
// time, those that requests wait for first, and again later if it fails.
type fetcher struct {
	*folder
	withdrawals
	counters  *counters
	rebuilder *rebuilder
	describe  func(ctx context.Context, v herb.LiveVersion) (herb.Dataset, error)
	now       func() time.Time
	wait      time.Duration // see Options.Wait

	prefetchSlots chan struct{}   // limits fetches that no request waits for
	requestSlots  chan struct{}   // additional slots for fetches that requests wait for
	ctx           context.Context // of fetches; done when the library is closed
	cancel        func()
	running       sync.WaitGroup
}

// close cancels fetches and waits until they have ended.
func (l *fetcher) close() {
	l.table.mu.Lock()
	l.cancel() // no fetch starts afterwards
	l.table.mu.Unlock()
	l.running.Wait()
}

// fetch opens one version of a dataset in the background and, if necessary, transfers its file to
// this node first.
type fetch struct {
	*background.Task // ends when the version is open or the failure is recorded

	entry      *entry
	version    herb.LiveVersion
	requested  chan struct{}   // closed by request
	request    func()          // called when a request waits
	evicted    <-chan struct{} // closed when the eviction that ran when the fetch started has ended
	rebuilding chan struct{}   // closed when the index has to be rebuilt
}

// failure records why the live version of a dataset could not be opened.
type failure struct {
	err      error
	reason   Reason
	attempts int
	retryAt  time.Time // earliest next attempt
}

// Backoff between attempts to open a version.
const (
	minBackoff = time.Second
	maxBackoff = time.Minute
)

// awaitFetch returns a version of a dataset whose live version is not open on this node, or a named
// version, after waiting for its fetch if requests must.
func (l *fetcher) awaitFetch(ctx context.Context, key versionKey) (View, error) {
	for {
		f, view, err := l.joinFetch(key)
		if f == nil {
			return view, err
		}
		err = f.Wait(ctx, l.wait)
		if errors.Is(err, background.ErrInProgress) {
			l.table.mu.RLock()
			defer l.table.mu.RUnlock()
			v := f.entry.open
			if v != nil && v.Acquire() {
				return l.table.view(f.entry), nil
			}
		}
		if err != nil {
			return View{}, err
		}
	}
}

// joinFetch adds a request to the fetch of a dataset or a named version, and starts the fetch if
// there is none. If no fetch is needed or possible, it returns a view or an error instead.
func (l *fetcher) joinFetch(key versionKey) (*fetch, View, error) {
	l.table.mu.Lock()
	defer l.table.mu.Unlock()
	e := l.table.entries[key]
	if e != nil {
		if v := l.table.listed(e); v != nil && v.Acquire() {
			return nil, l.table.view(e), nil
		}
	}
	switch {
	case l.ctx.Err() != nil:
		return nil, View{}, herb.Errorf(herb.CodeUnavailable, "cannot open dataset %s: the server is stopping", key.ref)
	case e == nil && key.version != "":
		return nil, View{}, herb.Errorf(herb.CodeGone, "version %s of dataset %s was removed", key.version, key.ref)
	case e == nil:
		return nil, View{}, herb.Errorf(herb.CodeNotFound,
			"no such dataset %q; GET /api/v1 lists all datasets", key.ref)
	case e.fetch == nil && !l.startFetch(e):
		return nil, View{}, e.failed.err
	}
	e.fetch.request()
	return e.fetch, View{}, nil
}

// startFetch starts fetching the live version of a dataset, unless a fetch runs or a failure defers
// it, and reports whether it did. table.mu is held.
func (l *fetcher) startFetch(e *entry) bool {
	if l.ctx.Err() != nil || e.fetch != nil || e.failed != nil && l.now().Before(e.failed.retryAt) {
		return false
	}
	f := &fetch{
		Task: background.NewTask("opening dataset " + e.Ref.String()), entry: e, version: e.LiveVersion,
		requested: make(chan struct{}), rebuilding: make(chan struct{}), evicted: l.cache.eviction(),
	}
	f.request = sync.OnceFunc(func() { close(f.requested) })
	e.fetch = f
	l.running.Go(func() {
		select {
		case <-f.evicted:
		case <-l.ctx.Done():
		}
		v, err := l.openOrFetch(l.ctx, f)
		l.finishFetch(f, v, l.checkWithdrawn(f.version.Ref, f.version.Version, err))
	})
	return true
}

// fetchIfOutdated starts fetching the live version if an older one is open. table.mu is held.
func (l *fetcher) fetchIfOutdated(e *entry) {
	if e.open != nil && !e.isOpen() {
		l.startFetch(e)
	}
}

// finishFetch installs the result of a fetch, or records its failure.
func (l *fetcher) finishFetch(f *fetch, v *openVersion, err error) {
	l.table.mu.Lock()
	defer l.table.unlock()
	defer f.End(nil)
	e := f.entry
	unused := func() {
		if v != nil {
			l.table.after = append(l.table.after, v.close)
		}
	}
	e.fetch = nil
	live := e.Version == f.version.Version
	if err == nil && live {
		e.failed = nil
	}
	known := l.table.entries[e.key()] == e
	switch {
	case err != nil && live && l.ctx.Err() == nil:
		l.recordFailure(e, herb.Wrap(herb.CodeUnavailable, err, "cannot open dataset %s; try again", f.version.Ref))
		unused()
	case err != nil, l.table.withdrawn[f.version.Version], !known, l.ctx.Err() != nil, e.isOpen():
		// the dataset was removed or rolled back
		unused()
	default:
		// a version that is no longer live replaces an older one: versions may be published faster
		// than they can be fetched
		v.lastUsed.Store(l.table.epoch.Load())
		l.table.setOpen(e, v)
		l.table.closeUnused(e)
		l.table.after = append(l.table.after, func() {
			l.log.Info("serving version", "dataset", f.version.Ref.String(), "version", f.version.Version, "records",
				f.version.Records)
		})
	}
	if known {
		l.fetchIfOutdated(e)
	}
}

// recordFailure records a failed fetch of the live version and when to retry. It logs when the kind
// of failure changes. table.mu is held.
func (l *fetcher) recordFailure(e *entry, err error) {
	now, before := &failure{err: err, reason: ReasonOf(errors.Unwrap(err)), attempts: 1}, e.failed
	l.counters.failed[now.reason].Add(1)
	if before != nil {
		now.attempts += before.attempts
	}
	wait := min(minBackoff<<min(now.attempts-1, 10), maxBackoff)
	now.retryAt = l.now().Add(wait/2 + rand.N(wait/2)) // jitter: nodes that failed together should not retry together
	e.failed = now
	// messages may differ in detail
	if before == nil || herb.CodeOf(errors.Unwrap(before.err)) != herb.CodeOf(errors.Unwrap(err)) {
		version := e.LiveVersion
		l.table.after = append(l.table.after, func() {
			l.log.Error("cannot open version; will retry", "dataset", version.Ref.String(),
				"version", version.Version, "object", store.SegmentFile(version.Version), "err", err)
		})
	}
}

// acquireSlot waits for one of the slots for a fetch. Additional slots are for a fetch that
// requests wait for, so that it does not queue behind others.
func acquireSlot(ctx context.Context, f *fetch, slots, requested chan struct{}) (release func(), err error) {
	waiting, additional := f.requested, chan struct{}(nil) // nil blocks
	for {
		select {
		case slots <- struct{}{}:
			return func() { <-slots }, nil
		case additional <- struct{}{}:
			return func() { <-requested }, nil
		case <-waiting:
			waiting, additional = nil, requested
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
