package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"log/slog"
	"sync"
	"time"

	"herbarium/internal/herb"
)

// Keys is where keys are kept.
type Keys interface {
	Key(ctx context.Context, id string) (herb.Key, error)
	TouchKeys(ctx context.Context, lastUsed map[string]time.Time) error
}

// Options of a verifier.
type Options struct {
	Token string           // a secret beside the stored keys, with every scope; empty: none
	Now   func() time.Time // nil: time.Now
	Log   *slog.Logger     // nil: no log
}

const (
	// memory is how long a key that was read is believed: a revoked one stops being of use within it.
	memory = 500 * time.Millisecond
	// memoryAlone is how long it is believed while the keys cannot be read. Nobody can revoke a key in a database that is
	// gone; where only this process has lost it, a revoked key is of use here for that long.
	memoryAlone = 15 * time.Minute
	// touchEvery is how often the times of last use are written down.
	touchEvery = 10 * time.Second
	// maxKnown bounds what is remembered of keys. Past it everything is forgotten, which costs a look-up each.
	maxKnown = 10_000
)

// Verifier finds out who a secret belongs to. It is safe for use by any number of goroutines.
type Verifier struct {
	keys  Keys
	opts  Options
	token [32]byte // SHA-256 of Options.Token

	mu    sync.Mutex
	known map[string]knownKey
	used  map[string]time.Time
}

type knownKey struct {
	key  herb.Key
	read time.Time
}

// NewVerifier returns a verifier over stored keys.
func NewVerifier(keys Keys, opts Options) *Verifier {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	return &Verifier{
		keys:  keys,
		opts:  opts,
		token: sha256.Sum256([]byte(opts.Token)),
		known: map[string]knownKey{},
		used:  map[string]time.Time{},
	}
}

// Verify returns the principal behind a secret. Whatever is wrong with it is herb.CodeUnauthenticated, in words that do
// not repeat it.
func (v *Verifier) Verify(ctx context.Context, secret string) (herb.Principal, error) {
	sum := sha256.Sum256([]byte(secret))
	if v.opts.Token != "" && subtle.ConstantTimeCompare(sum[:], v.token[:]) == 1 {
		// The id changes with the token, so that what one holder of it remembers is not another's.
		return herb.Principal{ID: "token-" + hex.EncodeToString(sum[:8]), Scopes: herb.AllScopes()}, nil
	}
	id, ok := ID(secret)
	if !ok {
		return herb.Principal{}, herb.Errorf(herb.CodeUnauthenticated,
			"this is not a key of this service, or it is mistyped; keys begin with %s", Prefix)
	}
	now := v.opts.Now()
	key, err := v.key(ctx, id, now)
	if herb.CodeOf(err) == herb.CodeNotFound || err == nil && subtle.ConstantTimeCompare(sum[:], key.Hash[:]) == 0 {
		return herb.Principal{}, herb.Errorf(herb.CodeUnauthenticated, "there is no such key")
	}
	if err != nil {
		return herb.Principal{}, err
	}
	if status := key.Status(now); status != "active" {
		return herb.Principal{}, herb.Errorf(herb.CodeUnauthenticated, "the key is %s", status)
	}
	v.mu.Lock()
	v.used[id] = now
	v.mu.Unlock()
	return herb.Principal{ID: id, Scopes: key.Scopes}, nil
}

// key returns a stored key, from memory if it was read a moment ago. A key that is not there is looked for each time, so
// that a new one works at once.
func (v *Verifier) key(ctx context.Context, id string, now time.Time) (herb.Key, error) {
	v.mu.Lock()
	k, ok := v.known[id]
	v.mu.Unlock()
	if ok && now.Sub(k.read) < memory {
		return k.key, nil
	}
	key, err := v.keys.Key(ctx, id)
	if ok && herb.CodeOf(err) == herb.CodeUnavailable && now.Sub(k.read) < memoryAlone {
		return k.key, nil
	}
	if err != nil {
		return herb.Key{}, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.known) >= maxKnown {
		clear(v.known)
	}
	v.known[id] = knownKey{key, now}
	return key, nil
}

// Run writes down, now and then and once more when ctx ends, when keys were last used: in batches, so that reading with
// a key does not write each time.
func (v *Verifier) Run(ctx context.Context) error {
	tick := time.NewTicker(touchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return v.touch(context.WithoutCancel(ctx))
		case <-tick.C:
			if err := v.touch(ctx); err != nil {
				v.opts.Log.Warn("the last use of keys was not written down; it is tried again", "err", err)
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
