package access

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
)

// Keys is the database of keys.
type Keys interface {
	CountKeys(ctx context.Context) (total, revoked int, err error)
	Keys(ctx context.Context) ([]herb.Key, error)
	TouchKeys(ctx context.Context, lastUsed map[string]time.Time) error
}

// Options configures a Verifier.
type Options struct {
	Token string           // an additional secret that may create plants and read all datasets; empty disables it
	Now   func() time.Time // nil means time.Now
	Log   *slog.Logger     // nil disables logging
}

// RevocationDelay is how long a read of the keys is used without another. After it, every server
// that can read the keys rejects a revoked key.
const RevocationDelay = 500 * time.Millisecond

const (
	// staleTTL is how long a read is used while the keys cannot be read. No key can be revoked in a
	// database that is down; if only this process has lost the database, a revoked key works here
	// for that long.
	staleTTL = 15 * time.Minute
	// staleWait is how long a valid key of the copy waits for a read that does not end. The copy is
	// then used like one of a database that is down, because requests have deadlines and a database
	// that hangs may hang for hours.
	staleWait = time.Second
	// touchEvery is how often the times of last use are written.
	touchEvery = 10 * time.Second
	// maxWaiting bounds how many failed keys wait for the database at once.
	maxWaiting = 64
)

// Verifier authenticates secrets. It is safe for concurrent use.
//
// It holds a copy of all keys in memory, so that requests do not query the database. A secret that
// the copy does not confirm is compared again after the next read of the keys, so that a key
// created by another process works at once. Unknown, revoked and expired IDs and wrong secrets take
// this same path, so that their timing does not differ, and any number of forged keys causes at
// most one read per refreshInterval.
type Verifier struct {
	keys     Keys
	opts     Options
	token    [32]byte // SHA-256 of Options.Token
	compare  func(a, b []byte) int
	failures *limiter
	waiting  chan struct{}

	reads    singleflight.Group        // the read of the keys that has not begun
	reading  chan struct{}             // has an element during a read
	lastRead time.Time                 // when the last read began
	pending  atomic.Pointer[time.Time] // when the first read after the last successful one began; nil if there is none

	set atomic.Pointer[keyset] // nil until the first read

	mu   sync.Mutex
	used map[string]time.Time
}

// NewVerifier returns a verifier over stored keys.
func NewVerifier(keys Keys, opts Options) *Verifier {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	return &Verifier{
		keys:     keys,
		opts:     opts,
		token:    sha256.Sum256([]byte(opts.Token)),
		compare:  subtle.ConstantTimeCompare,
		failures: newLimiter(),
		waiting:  make(chan struct{}, maxWaiting),
		reading:  make(chan struct{}, 1),
		used:     map[string]time.Time{},
	}
}

// Verify returns the principal of a secret. An invalid secret fails with herb.CodeUnauthenticated,
// or herb.CodeRateLimited if the client has sent too many; no message contains the secret. A valid
// secret is accepted regardless of failures of its client.
func (v *Verifier) Verify(ctx context.Context, secret string, client admission.Client) (herb.Principal, error) {
	sum := sha256.Sum256([]byte(secret))
	if v.compare(sum[:], v.token[:]) == 1 && v.opts.Token != "" {
		// The ID changes with the token, so that idempotency keys of one token are not those of
		// another.
		return herb.Principal{
			// publishing needs a key
			ID: "token-" + hex.EncodeToString(sum[:8]), Scopes: []herb.Scope{herb.ScopePlantsWrite, herb.ScopeDataRead},
		}, nil
	}
	id, ok := ID(secret)
	if !ok {
		return herb.Principal{}, v.reject(client, herb.Errorf(herb.CodeUnauthenticated,
			"this is not a key of this service, or it is mistyped; keys begin with %s", Prefix))
	}
	now := v.opts.Now()
	set := v.set.Load()
	key, err := v.match(set, id, sum, now)
	if err == nil && now.Sub(set.read) < RevocationDelay {
		return v.accept(key, now), nil
	}
	if err != nil { // valid keys do not queue behind invalid ones
		select {
		case v.waiting <- struct{}{}:
			defer func() { <-v.waiting }()
		default:
			return herb.Principal{}, tooManyFailures(max(v.failures.fail(client, now), time.Second))
		}
	}
	known := err == nil && now.Sub(set.read) < staleTTL
	if failed := v.refreshKnown(ctx, known); failed != nil {
		if known {
			return v.accept(key, now), nil
		}
		return herb.Principal{}, failed
	}
	key, err = v.match(v.set.Load(), id, sum, now)
	if err != nil {
		return herb.Principal{}, v.reject(client, err)
	}
	return v.accept(key, now), nil
}

// match returns the key with an ID if the secret matches and it is active. It takes one comparison
// in every case.
func (v *Verifier) match(set *keyset, id string, sum [32]byte, now time.Time) (herb.Key, error) {
	var key herb.Key // its zero hash matches no secret
	if set != nil {
		key = set.keys[id]
	}
	if v.compare(sum[:], key.Hash[:]) == 0 {
		return herb.Key{}, herb.Errorf(herb.CodeUnauthenticated, "no such key")
	}
	if status := key.Status(now); status != "active" {
		return herb.Key{}, herb.Errorf(herb.CodeUnauthenticated, "the key is %s", status)
	}
	return key, nil
}

func (v *Verifier) accept(key herb.Key, now time.Time) herb.Principal {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.used[key.ID] = now
	return herb.Principal{ID: key.ID, Scopes: key.Scopes}
}

// reject records a failure of a client and returns its error.
func (v *Verifier) reject(client admission.Client, err error) error {
	if wait := v.failures.fail(client, v.opts.Now()); wait > 0 {
		return tooManyFailures(wait)
	}
	return err
}

func tooManyFailures(wait time.Duration) error {
	wait = (wait + time.Second - 1).Truncate(time.Second)
	return &herb.Error{
		Code:       herb.CodeRateLimited,
		Message:    fmt.Sprintf("too many invalid keys from this address; try again in %d s", int(wait.Seconds())),
		RetryAfter: wait,
	}
}

// Run writes when keys were last used, every touchEvery and once more when ctx is done. It batches,
// so that requests do not cause writes.
func (v *Verifier) Run(ctx context.Context) error {
	if err := v.refresh(ctx); err != nil && ctx.Err() == nil {
		v.opts.Log.Warn("cannot read keys; will retry when one is used", "err", err)
	}
	tick := time.NewTicker(touchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return v.touch(context.WithoutCancel(ctx))
		case <-tick.C:
			if err := v.touch(ctx); err != nil {
				v.opts.Log.Warn("cannot record last use of keys; will retry", "err", err)
			}
		}
	}
}

func (v *Verifier) touch(ctx context.Context) error {
	v.mu.Lock()
	used := v.used
	v.used = map[string]time.Time{}
	v.mu.Unlock()
	if len(used) == 0 {
		return nil
	}
	err := v.keys.TouchKeys(ctx, used)
	if err != nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		for id, t := range used {
			if t.After(v.used[id]) {
				v.used[id] = t
			}
		}
	}
	return err
}

const (
	// refreshInterval is the minimum time between two reads of the database, regardless of the
	// number of unknown keys.
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

// refreshKnown is refresh for a key that may be known. A known one waits no longer than until
// staleWait after the first read that the database has not answered: only the first requests wait
// for a database that hangs, and every one begins another read if none is running.
func (v *Verifier) refreshKnown(ctx context.Context, known bool) error {
	if known {
		wait := staleWait
		if began := v.pending.Load(); began != nil {
			wait -= time.Since(*began)
		}
		limited, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		ctx = limited
	}
	return v.refresh(ctx)
}

// refresh returns after a read of the keys that began after the call, so that it includes every key
// that existed then. All calls that wait at once share one read.
func (v *Verifier) refresh(ctx context.Context) error {
	select {
	case read := <-v.reads.DoChan("", v.reload):
		return read.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reload replaces the copy of the keys. One call reads at a time, and no more often than
// refreshInterval. It is independent of the requests that wait, which may end before it does.
func (v *Verifier) reload() (any, error) {
	v.reading <- struct{}{}
	defer func() { <-v.reading }()
	time.Sleep(refreshInterval - time.Since(v.lastRead))
	v.lastRead = time.Now()
	v.pending.CompareAndSwap(nil, new(v.lastRead))
	v.reads.Forget("") // later calls need another read
	ctx, cancel := context.WithTimeout(context.Background(), refreshTimeout)
	defer cancel()
	set, err := v.loadKeys(ctx)
	if err == nil {
		v.set.Store(set)
		v.pending.Store(nil)
	}
	return nil, err
}

// loadKeys returns the stored keys. Keys are only ever added and revoked, so as long as the counts
// of both are those of the previous set it is still complete and no key is read.
func (v *Verifier) loadKeys(ctx context.Context) (*keyset, error) {
	read := v.opts.Now() // before the read: the keys are at least as recent
	total, revoked, err := v.keys.CountKeys(ctx)
	if err != nil {
		return nil, err
	}
	if previous := v.set.Load(); previous != nil && previous.total == total && previous.revoked == revoked {
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
