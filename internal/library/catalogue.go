package library

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"herbarium/internal/filesystem"
)

// catalogueStatus is the state of reading the catalogue. It is immutable.
type catalogueStatus struct {
	generation int64     // of the catalogue; negative if it was never read
	restored   bool      // the entries are those of the catalogue copy of an earlier run
	lastRead   time.Time // last success
	err        error     // of the last attempt
	retryAt    time.Time // earliest next attempt by a request; zero unless the last one failed
}

const (
	catalogueLimit = 20 * time.Second // timeout of a read
	catalogueWait  = 2 * time.Second  // timeout of a read in a request, on a node that can serve without it
	cataloguePause = 5 * time.Second  // how long requests do not retry after a failure
)

// upToDate reports whether requests use the entries as they are: they are up to date, or the
// catalogue failed to answer recently. The error is that failure if there are no entries.
func (l *Library) upToDate() (bool, error) {
	s := l.status.Load()
	known := s.generation >= 0
	switch {
	case known && !s.restored && !l.notifier.changed():
		return true, nil
	case !known:
		return l.opts.Now().Before(s.retryAt), s.err
	}
	return l.opts.Now().Before(s.retryAt), nil
}

// updateEntries reads the catalogue if a change notification was received. On a node, one request
// reads it for all, because a shared database can be slow to fail; the others use the last known
// entries.
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

// Refresh updates the entries from the catalogue. If Dir has all files, it opens the datasets of a
// small library and returns when every version that is being opened is open, has failed to open, or
// has to be rebuilt.
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
		case <-f.Ended():
		case <-f.rebuilding:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// readCatalogue reads and applies the changes of the catalogue since the last read, or all of it,
// and records and logs the result unless ctx was canceled. l.refresh is held.
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
	now.err, now.retryAt = err, l.opts.Now().Add(cataloguePause)
	changed := err == nil && changes.Generation != since
	switch {
	case err == nil:
		now.generation, now.restored, now.lastRead, now.retryAt = changes.Generation, false, l.opts.Now(), time.Time{}
		if changed {
			l.applyChanges(changes)
			if err := l.RemoveWithdrawn(changes.Withdrawn...); err != nil {
				l.opts.Log.Warn("cannot remove the files of withdrawn versions; will retry", "err", err)
			}
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

// notifier signals catalogue changes between processes that share a folder, through a small file
// that each request reads. It only affects how soon a change is seen: Library.Run polls the
// catalogue anyway.
type notifier struct {
	fs   filesystem.FS // writes notifications
	file *os.File      // for reading
	seen atomic.Uint64 // the stamp of the last catalogue read
}

func openNotifier(fs filesystem.FS, path string) (*notifier, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the change notification file: %w", err)
	}
	return &notifier{fs: fs, file: f}, nil
}

// notify signals other processes that the catalogue changed. If it fails, they see the change at
// their next poll.
func (n *notifier) notify() error {
	f, err := n.fs.OpenFile(n.file.Name(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	var stamp [8]byte
	rand.Read(stamp[:])
	_, err = f.Write(stamp[:])
	return errors.Join(err, f.Close())
}

// stamp returns the content of the file, a random number that each notification replaces. An
// unreadable file counts as one without notifications.
func (n *notifier) stamp() uint64 {
	var stamp [8]byte
	_, _ = n.file.ReadAt(stamp[:], 0)
	return binary.LittleEndian.Uint64(stamp[:])
}

// changed reports whether a notification was sent since the last one seen.
func (n *notifier) changed() bool { return n.stamp() != n.seen.Load() }

// NotifyChange signals other processes that the catalogue changed.
func (l *Library) NotifyChange() {
	if err := l.notifier.notify(); err != nil {
		l.opts.Log.Warn("cannot signal catalogue change; nodes will see it at the next poll", "err", err)
	}
}
