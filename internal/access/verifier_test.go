package access

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
)

// keyring is a database of keys in memory that counts calls.
type keyring struct {
	mu      sync.Mutex
	keys    map[string]herb.Key
	touched map[string]time.Time
	counts  int
	reads   int
	touches int
	err     error           // of CountKeys and Keys
	touch   error           // of TouchKeys
	hang    bool            // CountKeys returns when its context ends
	gate    <-chan struct{} // delays the result of CountKeys until it is closed; nil does not
}

func (k *keyring) CountKeys(ctx context.Context) (total, revoked int, err error) {
	if k.isHanging() {
		<-ctx.Done()
		return 0, 0, ctx.Err()
	}
	if k.gate != nil {
		defer func() { <-k.gate }()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.counts++
	for _, key := range k.keys {
		if !key.Revoked.IsZero() {
			revoked++
		}
	}
	return len(k.keys), revoked, k.err
}

func (k *keyring) Keys(context.Context) ([]herb.Key, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reads++
	return slices.Collect(maps.Values(k.keys)), k.err
}

func (k *keyring) TouchKeys(_ context.Context, used map[string]time.Time) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.touches++
	if k.touch != nil {
		return k.touch
	}
	maps.Copy(k.touched, used)
	return nil
}

func (k *keyring) add(key herb.Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys[key.ID] = key
}

// mint adds a key and returns its secret and ID.
func (k *keyring) mint(now time.Time, change func(*herb.Key)) (secret, id string) {
	secret, key := Mint("k", herb.AllScopes(), now, time.Time{})
	if change != nil {
		change(&key)
	}
	k.add(key)
	return secret, key.ID
}

// queries returns the number of reads of any kind.
func (k *keyring) queries() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.counts + k.reads
}

func (k *keyring) isHanging() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.hang
}

func (k *keyring) setHanging(hang bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.hang = hang
}

func (k *keyring) failTouches(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.touch = err
}

func (k *keyring) lastUsed(id string) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.touched[id]
}

// client is an address that sends keys.
const client = "192.0.2.1"

func clientAt(address string) admission.Client {
	return admission.ClientOf(netip.MustParseAddr(address))
}

func newKeyring() *keyring {
	return &keyring{keys: map[string]herb.Key{}, touched: map[string]time.Time{}}
}

// withKey runs a test with a simulated clock, a key and a verifier.
func withKey(t *testing.T, test func(t *testing.T, keys *keyring, secret, id string, v *Verifier)) {
	synctest.Test(t, func(t *testing.T) {
		keys := newKeyring()
		secret, id := keys.mint(time.Now(), nil)
		test(t, keys, secret, id, NewVerifier(keys, Options{}))
	})
}

func TestMint(t *testing.T) {
	t.Parallel()
	secret, key := Mint("ci", herb.AllScopes(), time.Now(), time.Time{})
	if id, ok := ID(secret); !ok || id != key.ID {
		t.Errorf("ID(%q) = %q, %v; want %q", secret, id, ok, key.ID)
	}
	if !strings.HasPrefix(secret, Prefix) {
		t.Errorf("secret %q does not begin with %q", secret, Prefix)
	}
	if other, _ := Mint("ci", nil, time.Now(), time.Time{}); other == secret {
		t.Error("two keys have the same secret")
	}
	if !key.Expires.IsZero() {
		t.Errorf("a key without expiry expires %v", key.Expires)
	}
	for i := range len(secret) {
		mistyped := []byte(secret)
		mistyped[i] ^= 1
		if _, ok := ID(string(mistyped)); ok {
			t.Errorf("the mistyped secret %q passes", mistyped)
		}
	}
	for _, short := range []string{secret[:len(secret)-1], Prefix, ""} {
		if _, ok := ID(short); ok {
			t.Errorf("%q, a secret cut short, passes", short)
		}
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ring := newKeyring()
	mint := func(change func(*herb.Key)) string {
		secret, _ := ring.mint(now, change)
		return secret
	}
	unknown, _ := Mint("k", nil, now, time.Time{})
	const token = "a token from the environment, long enough"
	cases := []struct {
		name, secret, want string // want: part of the message, empty for success
	}{
		{"active", mint(nil), ""},
		{"expires later", mint(func(k *herb.Key) { k.Expires = now.Add(time.Second) }), ""},
		{"token", token, ""},
		{"expired", mint(func(k *herb.Key) { k.Expires = now }), "expired"},
		{"revoked", mint(func(k *herb.Key) { k.Revoked = now }), "revoked"},
		{"same id, other secret", mint(func(k *herb.Key) { k.Hash[0]++ }), "no such key"},
		{"unknown", unknown, "no such key"},
		{"mistyped", unknown + "x", "mistyped"},
		{"token cut short", token[1:], "mistyped"},
		{"empty", "", "mistyped"},
	}
	v := NewVerifier(ring, Options{Token: token, Now: func() time.Time { return now }})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := v.Verify(t.Context(), c.secret, clientAt(client))
			if c.want == "" {
				if err != nil || !p.May(herb.ScopePlantsWrite) || p.ID == "" {
					t.Fatalf("got %v, %v; want a principal that may create plants", p, err)
				}
				// Stored idempotency keys contain the ID of the token.
				if sum := sha256.Sum256([]byte(token)); c.secret == token && p.ID != fmt.Sprintf("token-%x", sum[:8]) {
					t.Errorf("the ID of the token is %s", p.ID)
				}
				return
			}
			if herb.CodeOf(err) != herb.CodeUnauthenticated || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v; want an error about %q", err, c.want)
			}
			if c.secret != "" && strings.Contains(err.Error(), c.secret) {
				t.Error("the message repeats the secret")
			}
		})
	}
}

// TestVerify_clock checks that a key expires by the clock, and is valid again when the clock is set
// back.
func TestVerify_clock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 29, 1, 59, 59, 0, time.UTC)
	ring := newKeyring()
	secret, _ := ring.mint(now, func(k *herb.Key) { k.Expires = now.Add(time.Hour) })
	v := NewVerifier(ring, Options{Now: func() time.Time { return now }})
	for _, tt := range []struct {
		name  string
		jump  time.Duration
		valid bool
	}{
		{"created", 0, true},
		{"back, before its creation", -365 * 24 * time.Hour, true},
		{"forward, to its creation", 365 * 24 * time.Hour, true},
		{"forward, after its expiry", 2 * time.Hour, false},
		{"back, before its expiry", -2 * time.Hour, true},
	} {
		now = now.Add(tt.jump)
		if _, err := v.Verify(t.Context(), secret, clientAt(client)); (err == nil) != tt.valid {
			t.Errorf("%s: %v; want valid %v", tt.name, err, tt.valid)
		}
	}
}

func TestVerify_withoutToken(t *testing.T) {
	t.Parallel()
	v := NewVerifier(newKeyring(), Options{})
	if _, err := v.Verify(t.Context(), "", clientAt(client)); herb.CodeOf(err) != herb.CodeUnauthenticated {
		t.Errorf("an empty secret gives %v where no token is set", err)
	}
}

func TestVerify_storeUnavailable(t *testing.T) {
	t.Parallel()
	ring := newKeyring()
	secret, _ := Mint("k", nil, time.Now(), time.Time{})
	ring.err = herb.Errorf(herb.CodeUnavailable, "away")
	v := NewVerifier(ring, Options{})
	if _, err := v.Verify(t.Context(), secret, clientAt(client)); herb.CodeOf(err) != herb.CodeUnavailable {
		t.Errorf("got %v; want the store's error: a key that cannot be looked up is not a wrong one", err)
	}
}

func TestVerifier_revocation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ring := newKeyring()
		secret, key := Mint("k", nil, time.Now(), time.Time{})
		v := NewVerifier(ring, Options{})
		if _, err := v.Verify(t.Context(), secret, clientAt(client)); err == nil {
			t.Fatal("a key that is not stored yet is valid")
		}
		ring.add(key)
		for range 10 {
			if _, err := v.Verify(t.Context(), secret, clientAt(client)); err != nil {
				t.Fatalf("a new key does not work at once: %v", err)
			}
		}
		if ring.counts != 2 || ring.reads != 2 {
			t.Errorf("the store was asked %d times and read %d times; want 2, for the miss and for the new key",
				ring.counts, ring.reads)
		}
		key.Revoked = time.Now()
		ring.add(key)
		time.Sleep(999 * time.Millisecond)
		if _, err := v.Verify(t.Context(), secret, clientAt(client)); err == nil {
			t.Error("a revoked key still works after a second")
		}
	})
}

func TestVerifier_lastUsed(t *testing.T) {
	t.Parallel()
	withKey(t, func(t *testing.T, ring *keyring, secret, id string, v *Verifier) {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- v.Run(ctx) }()

		use := func() time.Time {
			if _, err := v.Verify(t.Context(), secret, clientAt(client)); err != nil {
				t.Fatal(err)
			}
			return time.Now()
		}
		first := use()
		time.Sleep(time.Minute)
		if got := ring.lastUsed(id); !got.Equal(first) {
			t.Errorf("last use is %v after a minute; want %v", got, first)
		}
		time.Sleep(time.Minute)
		if ring.touches != 1 {
			t.Errorf("last use was written %d times; want once, because nothing was used since", ring.touches)
		}
		second := use()
		ring.failTouches(errors.New("disk full"))
		time.Sleep(time.Minute)
		ring.failTouches(nil)
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		if got := ring.lastUsed(id); !got.Equal(second) {
			t.Errorf("last use is %v at the end; want %v, kept through a failure", got, second)
		}
	})
}

func TestVerify_withoutDatabase(t *testing.T) {
	t.Parallel()
	withKey(t, func(t *testing.T, keys *keyring, secret, _ string, v *Verifier) {
		if _, err := v.Verify(t.Context(), secret, clientAt(client)); err != nil {
			t.Fatal(err)
		}
		keys.err = herb.Errorf(herb.CodeUnavailable, "the database does not answer")
		time.Sleep(14 * time.Minute)
		if _, err := v.Verify(t.Context(), secret, clientAt(client)); err != nil {
			t.Errorf("a key that was read a while ago is rejected without the database: %v", err)
		}
		unread, _ := Mint("b", []herb.Scope{herb.ScopeDataRead}, time.Now(), time.Time{})
		if _, err := v.Verify(t.Context(), unread, clientAt(client)); herb.CodeOf(err) != herb.CodeUnavailable {
			t.Errorf("a key that was never read gives %v", err)
		}
		time.Sleep(2 * time.Minute)
		if _, err := v.Verify(t.Context(), secret, clientAt(client)); herb.CodeOf(err) != herb.CodeUnavailable {
			t.Errorf("a key that was read too long ago gives %v", err)
		}
	})
}

// TestVerify_hangingDatabase verifies keys while the database accepts queries and does not answer
// them.
func TestVerify_hangingDatabase(t *testing.T) {
	t.Parallel()
	withKey(t, func(t *testing.T, keys *keyring, secret, id string, v *Verifier) {
		verify := func(secret string) (time.Duration, error) {
			began := time.Now()
			_, err := v.Verify(t.Context(), secret, clientAt(client))
			return time.Since(began), err
		}
		if _, err := verify(secret); err != nil {
			t.Fatal(err)
		}
		keys.setHanging(true)
		time.Sleep(time.Minute)
		for i, atMost := range []time.Duration{time.Second, 0, 0} {
			if took, err := verify(secret); err != nil || took > atMost {
				t.Errorf("request %d: a known key took %s, error %v; want at most %s", i+1, took, err, atMost)
			}
		}
		time.Sleep(10 * time.Second) // the first read has ended
		if took, err := verify(secret); err != nil || took > 0 {
			t.Errorf("a known key took %s, error %v after a read that failed", took, err)
		}
		unknown, _ := Mint("unknown", nil, time.Now(), time.Time{})
		if took, err := verify(unknown); err == nil || took > 2*refreshTimeout {
			t.Errorf("an unknown key took %s, error %v", took, err)
		}
		revoked := keys.keys[id]
		revoked.Revoked = time.Now()
		keys.add(revoked)
		keys.setHanging(false)
		time.Sleep(refreshTimeout) // the last hanging read ends
		_, _ = verify(secret)      // begins a read
		synctest.Wait()
		time.Sleep(RevocationDelay)
		if _, err := verify(secret); herb.CodeOf(err) != herb.CodeUnauthenticated {
			t.Errorf("a key that was revoked while the database hung: error %v", err)
		}
		keys.setHanging(true)
		time.Sleep(staleTTL)
		if _, err := verify(secret); err == nil {
			t.Error("a key was accepted after the copy has expired")
		}
	})
}
