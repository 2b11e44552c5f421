package access

import (
	"context"
	"sync"
	"time"

	"herbarium/internal/herb"
)

const (
	// refreshInterval is the minimum time between two reads of the database, regardless of the number of unknown keys.
	refreshInterval = 50 * time.Millisecond
	// refreshTimeout limits one read of the database.
	refreshTimeout = 5 * time.Second
)

// keyset is an immutable copy of all stored keys.
type keyset struct {
	keys           map[string]herb.Key
	total, revoked int
	read           time.Time // by the clock of the verifier
}

// loadKeys returns the stored keys. Keys are only ever added and revoked, so as long as the counts of both are those of the
// previous set it is still complete and no key is read.
func loadKeys(ctx context.Context, from Keys, previous *keyset, now func() time.Time) (*keyset, error) {
	read := now() // before the read: the keys are at least as recent
	total, revoked, err := from.CountKeys(ctx)
	if err != nil {
		return nil, err
	}
	if previous != nil && previous.total == total && previous.revoked == revoked {
		return &keyset{keys: previous.keys, total: total, revoked: revoked, read: read}, nil
	}
	all, err := from.Keys(ctx)
	if err != nil {
		return nil, err
	}
	// Counted again: a key may have been added since CountKeys.
	set := &keyset{keys: make(map[string]herb.Key, len(all)), total: len(all), read: read}
	for _, k := range all {
		set.keys[k.ID] = k
		if !k.Revoked.IsZero() {
			set.revoked++
		}
	}
	return set, nil
}

// refresher reads the keys on request, one read at a time and no more often than refreshInterval.
type refresher struct {
	load func(context.Context) error

	mu      sync.Mutex
	next    *refresh // the read that has not begun; nil if no call waits for one
	active  bool     // a goroutine is running
	started time.Time
}

// refresh is one read of the keys.
type refresh struct {
	done chan struct{}
	err  error // set before done is closed
}

// wait returns after a read of the keys that began after the call, so that it includes every key that existed then. All
// calls that wait at once share one read.
func (r *refresher) wait(ctx context.Context) error {
	read := r.join()
	select {
	case <-read.done:
		return read.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *refresher) join() *refresh {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next = &refresh{done: make(chan struct{})}
		if !r.active {
			r.active = true
			go r.run()
		}
	}
	return r.next
}

// run reads the keys until no call waits.
func (r *refresher) run() {
	for {
		r.mu.Lock()
		pause := refreshInterval - time.Since(r.started)
		r.mu.Unlock()
		time.Sleep(pause)
		r.mu.Lock()
		read := r.next
		r.next, r.started = nil, time.Now()
		r.mu.Unlock()
		read.err = r.loadOnce()
		close(read.done)
		r.mu.Lock()
		if r.next == nil {
			r.active = false
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
	}
}

// loadOnce is independent of the requests that wait, which may end before it does.
func (r *refresher) loadOnce() error {
	ctx, cancel := context.WithTimeout(context.Background(), refreshTimeout)
	defer cancel()
	return r.load(ctx)
}
