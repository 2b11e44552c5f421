package access

import (
	"context"
	"time"

	"golang.org/x/sync/singleflight"

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
	load    func(context.Context) error
	next    singleflight.Group // the read that has not begun
	reading chan time.Time     // has the start of the last read while none is running
}

func newRefresher(load func(context.Context) error) *refresher {
	r := &refresher{load: load, reading: make(chan time.Time, 1)}
	r.reading <- time.Time{}
	return r
}

// wait returns after a read of the keys that began after the call, so that it includes every key that existed then. All
// calls that wait at once share one read.
func (r *refresher) wait(ctx context.Context) error {
	select {
	case read := <-r.next.DoChan("", r.read):
		return read.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// read is independent of the requests that wait, which may end before it does.
func (r *refresher) read() (any, error) {
	time.Sleep(refreshInterval - time.Since(<-r.reading))
	r.next.Forget("") // later calls need another read
	defer func(started time.Time) { r.reading <- started }(time.Now())
	ctx, cancel := context.WithTimeout(context.Background(), refreshTimeout)
	defer cancel()
	return nil, r.load(ctx)
}
