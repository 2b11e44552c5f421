package library

import (
	"context"
	"time"
)

// catalogueStatus is the state of reading the catalogue. It is immutable.
type catalogueStatus struct {
	generation int64     // of the catalogue; negative if it was never read
	restored   bool      // the entries are those of the catalogue copy of an earlier run
	lastRead   time.Time // last success
	lastTried  time.Time // last attempt
	err        error     // of the last attempt
}

const (
	catalogueLimit = 20 * time.Second // timeout of a read
	catalogueWait  = 2 * time.Second  // timeout of a read in a request, on a node that can serve without it
	cataloguePause = 5 * time.Second  // how long requests do not retry after a failure
)

// upToDate reports whether requests use the entries as they are: they are up to date, or the catalogue failed to answer
// recently. The error is that failure if there are no entries.
func (l *Library) upToDate() (bool, error) {
	s := l.status.Load()
	switch {
	case s.generation >= 0 && !s.restored && !l.notifier.changed():
		return true, nil
	case s.err == nil || l.opts.Now().Sub(s.lastTried) >= cataloguePause:
		return false, nil
	case s.generation >= 0:
		return true, nil
	}
	return true, s.err
}

// updateEntries reads the catalogue if a change notification was received. On a node, one request reads it for all, because
// a shared database can be slow to fail; the others use the last known entries.
func (l *Library) updateEntries(ctx context.Context) error {
	if done, err := l.upToDate(); done {
		return err
	}
	known := l.status.Load().generation >= 0
	limit := catalogueLimit
	if l.shared() && known {
		if !l.refresh.TryLock() {
			return nil
		}
		limit = catalogueWait
	} else {
		l.refresh.Lock()
	}
	defer l.refresh.Unlock()
	if done, err := l.upToDate(); done { // another request has read the catalogue meanwhile
		return err
	}
	if err := l.readCatalogue(ctx, limit, false); !known {
		return err
	}
	return nil
}

// poll reads what changed in the catalogue, or all of it.
func (l *Library) poll(ctx context.Context, complete bool) error {
	l.refresh.Lock()
	defer l.refresh.Unlock()
	return l.readCatalogue(ctx, catalogueLimit, complete)
}

// Refresh updates the entries from the catalogue. If Dir has all files, it opens the datasets of a small library and returns
// when every version that is being opened is open or has failed to open.
func (l *Library) Refresh(ctx context.Context) error {
	if err := l.poll(ctx, false); err != nil || l.shared() {
		return err
	}
	var running []*fetch
	l.mu.Lock()
	for _, e := range l.sorted {
		l.prefetch(e, 0)
		if e.fetch != nil {
			running = append(running, e.fetch)
		}
	}
	l.mu.Unlock()
	for _, f := range running {
		select {
		case <-f.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// readCatalogue reads and applies the changes of the catalogue since the last read, or all of it, and records and logs the
// result unless ctx was canceled. l.refresh is held.
func (l *Library) readCatalogue(ctx context.Context, limit time.Duration, complete bool) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	last := l.status.Load()
	since := last.generation
	if complete || last.restored {
		since = -1
	}
	stamp := l.notifier.stamp() // before the read, so that no later notification is missed
	changes, err := l.catalogue.Changes(limited, since)
	if ctx.Err() != nil && err != nil {
		return err
	}
	now := *last
	now.lastTried, now.err = l.opts.Now(), err
	changed := err == nil && changes.Generation != since
	switch {
	case err == nil:
		now.generation, now.restored, now.lastRead = changes.Generation, false, now.lastTried
		if changed {
			l.applyChanges(changes)
		}
		l.notifier.seen.Store(stamp)
		if last.err != nil {
			l.opts.Log.Info("catalogue is readable again")
		}
	case last.err == nil:
		l.opts.Log.Error("cannot read catalogue; serving last known versions", "err", err)
	}
	l.status.Store(&now)
	if changed && l.shared() {
		l.saveCatalogueCopy()
	}
	return err
}
