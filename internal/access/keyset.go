package access

import (
	"context"
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

func (v *Verifier) current() *keyset {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.set
}

// refresh returns after a read of the keys that began after the call, so that it includes every key that existed then. All
// calls that wait at once share one read.
func (v *Verifier) refresh(ctx context.Context) error {
	select {
	case read := <-v.reads.DoChan("", v.reload):
		return read.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reload replaces the copy of the keys. One call reads at a time, and no more often than refreshInterval. It is independent
// of the requests that wait, which may end before it does.
func (v *Verifier) reload() (any, error) {
	v.reading.Lock()
	defer v.reading.Unlock()
	time.Sleep(refreshInterval - time.Since(v.lastRead))
	v.lastRead = time.Now()
	v.reads.Forget("") // later calls need another read
	ctx, cancel := context.WithTimeout(context.Background(), refreshTimeout)
	defer cancel()
	set, err := v.loadKeys(ctx)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.set = set
	return nil, nil
}

// loadKeys returns the stored keys. Keys are only ever added and revoked, so as long as the counts of both are those of the
// previous set it is still complete and no key is read.
func (v *Verifier) loadKeys(ctx context.Context) (*keyset, error) {
	read := v.opts.Now() // before the read: the keys are at least as recent
	total, revoked, err := v.keys.CountKeys(ctx)
	if err != nil {
		return nil, err
	}
	if previous := v.current(); previous != nil && previous.total == total && previous.revoked == revoked {
		return &keyset{keys: previous.keys, total: total, revoked: revoked, read: read}, nil
	}
	all, err := v.keys.Keys(ctx)
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
