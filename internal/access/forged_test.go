package access

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"herbarium/internal/herb"
)

// forge returns a secret of the right form with the ID of a key.
func forge(id string) string {
	secret := Prefix + id + "_" + strings.Repeat("A", randomLength)
	return secret + checksum(secret)
}

// TestVerify_constantWork checks that a failure takes the same work whether or not a key with its
// ID exists.
func TestVerify_constantWork(t *testing.T) {
	t.Parallel()
	withKey(t, func(t *testing.T, keys *keyring, good, id string, v *Verifier) {
		revoked, revokedID := keys.mint(time.Now(), func(k *herb.Key) { k.Revoked = time.Now() })
		expired, expiredID := keys.mint(time.Now(), func(k *herb.Key) { k.Expires = time.Now() })
		unknown, _ := Mint("k", nil, time.Now(), time.Time{})
		compared := 0
		v.compare = func(a, b []byte) int {
			compared++
			return subtle.ConstantTimeCompare(a, b)
		}
		if _, err := v.Verify(t.Context(), good, clientAt("192.0.2.1")); err != nil {
			t.Fatal(err)
		}
		for i, c := range []struct{ name, secret string }{
			{"unknown", unknown},
			{"revoked", revoked},
			{"expired", expired},
			{"wrong secret", forge(id)},
			{"wrong secret of a revoked key", forge(revokedID)},
			{"wrong secret of an expired key", forge(expiredID)},
		} {
			time.Sleep(time.Minute) // no case profits from the reads of another
			compared = 0
			before, began := keys.queries(), time.Now()
			_, err := v.Verify(t.Context(), c.secret, clientAt(fmt.Sprintf("192.0.2.%d", i)))
			if herb.CodeOf(err) != herb.CodeUnauthenticated {
				t.Errorf("%s: %v", c.name, err)
			}
			if read := keys.queries() - before; read != 1 || compared != 3 || time.Since(began) != 0 {
				t.Errorf("%s: %d reads, %d comparisons, %s; want 1, 3 and no wait", c.name, read, compared,
					time.Since(began))
			}
		}
	})
}

// TestVerify_forgedKeys checks that the database is read at a bounded rate however many keys are
// forged, and that a valid key and a key that is new work meanwhile.
func TestVerify_forgedKeys(t *testing.T) {
	t.Parallel()
	withKey(t, func(t *testing.T, keys *keyring, good, _ string, v *Verifier) {
		if _, err := v.Verify(t.Context(), good, clientAt("192.0.2.1")); err != nil {
			t.Fatal(err)
		}
		before := keys.queries()
		const senders, each = 8, 500
		var wg sync.WaitGroup
		began := time.Now()
		for sender := range senders {
			wg.Go(func() {
				for i := range each {
					secret, _ := Mint("forged", nil, time.Now(), time.Time{})
					if _, err := v.Verify(t.Context(), secret,
						clientAt(fmt.Sprintf("198.51.%d.%d", sender, i%200))); err == nil {
						t.Error("a forged key is valid")
					}
				}
			})
		}
		time.Sleep(10 * refreshInterval)
		if _, err := v.Verify(t.Context(), good, clientAt("198.51.0.1")); err != nil {
			t.Errorf("a valid key fails while others are forged: %v", err)
		}
		fresh, _ := keys.mint(time.Now(), nil)
		if _, err := v.Verify(t.Context(), fresh, clientAt("198.51.0.1")); err != nil {
			t.Errorf("a new key fails while others are forged: %v", err)
		}
		wg.Wait()
		most := int(time.Since(began)/refreshInterval) + 1 + 2 // two more to read the keys when one is new
		if read := keys.queries() - before; read > most {
			t.Errorf("%d forged keys caused %d reads of the database in %s; want at most %d", senders*each, read,
				time.Since(began), most)
		}
	})
}

// TestVerify_slowDatabase checks who waits for a read of the keys: a bounded number of invalid
// keys, every valid key, and a key that was created after the read began, which waits for the next
// one.
func TestVerify_slowDatabase(t *testing.T) {
	t.Parallel()
	keys, now := newKeyring(), time.Now()
	good, _ := keys.mint(now, nil)
	v := NewVerifier(keys, Options{Now: func() time.Time { return now }})
	if _, err := v.Verify(t.Context(), good, clientAt("192.0.2.1")); err != nil {
		t.Fatal(err)
	}
	now = now.Add(RevocationDelay) // the copy of the keys must be read again
	gate := make(chan struct{})
	keys.gate = gate
	invalid, valid := make(chan error), make(chan error)
	verify := func(secret, client string, result chan<- error) {
		_, err := v.Verify(t.Context(), secret, clientAt(client))
		result <- err
	}
	before := keys.queries()
	go verify(forge("abcdefghij"), "198.51.100.1", invalid)
	for keys.queries() == before {
		runtime.Gosched()
	}
	fresh, _ := keys.mint(now, nil)
	go verify(fresh, "192.0.2.1", valid)
	for i := range maxWaiting - 2 {
		go verify(forge("abcdefghij"), fmt.Sprint("198.51.100.", 2+i), invalid)
	}
	for len(v.waiting) < maxWaiting {
		runtime.Gosched()
	}
	go verify(good, "192.0.2.1", valid)
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := v.Verify(ended, forge("abcdefghij"), clientAt("203.0.113.1")); herb.CodeOf(
		err) != herb.CodeRateLimited || herb.RetryAfterOf(err) != time.Second {
		t.Errorf("an invalid key while %d others wait: %v, retry after %s", maxWaiting, err, herb.RetryAfterOf(err))
	}
	if _, err := v.Verify(ended, good, clientAt("192.0.2.1")); !errors.Is(err, context.Canceled) && err != nil {
		t.Errorf("a valid key while %d invalid ones wait: %v", maxWaiting, err)
	}
	close(gate)
	for range maxWaiting - 1 {
		if err := <-invalid; herb.CodeOf(err) != herb.CodeUnauthenticated {
			t.Errorf("an invalid key: %v", err)
		}
	}
	for range 2 {
		if err := <-valid; err != nil {
			t.Errorf("a valid key: %v", err)
		}
	}
}

// TestVerify_limit checks that failures are limited for each client, and valid keys never.
func TestVerify_limit(t *testing.T) {
	t.Parallel()
	withKey(t, func(t *testing.T, keys *keyring, good, _ string, v *Verifier) {
		try := func(secret, client string) error {
			_, err := v.Verify(t.Context(), secret, clientAt(client))
			return err
		}
		const client = "192.0.2.1"
		for i := range failureBurst {
			if err := try("mistyped", client); herb.CodeOf(err) != herb.CodeUnauthenticated {
				t.Fatalf("failure %d: %v", i+1, err)
			}
		}
		for _, c := range []struct {
			name, secret, client string
			want                 herb.Code
		}{
			{"mistyped", "mistyped", client, herb.CodeRateLimited},
			{"unknown", forge("abcdefghij"), client, herb.CodeRateLimited},
			{"the same address", "mistyped", "::ffff:192.0.2.1", herb.CodeRateLimited},
			{"another client", "mistyped", "192.0.2.2", herb.CodeUnauthenticated},
			{"the first client again", "mistyped", client, herb.CodeRateLimited},
		} {
			err := try(c.secret, c.client)
			if herb.CodeOf(err) != c.want {
				t.Errorf("%s: got %v; want %s", c.name, err, c.want)
			}
			if limited := c.want == herb.CodeRateLimited; limited != (herb.RetryAfterOf(err) > 0) {
				t.Errorf("%s: retry after %s", c.name, herb.RetryAfterOf(err))
			}
		}
		fresh, _ := keys.mint(time.Now(), nil)
		for _, secret := range []string{good, fresh} {
			if err := try(secret, client); err != nil {
				t.Errorf("a valid key of a limited client: %v", err)
			}
		}
		wait := herb.RetryAfterOf(try("mistyped", client))
		if wait > failurePeriod {
			t.Errorf("retry after %s; want at most %s", wait, failurePeriod)
		}
		time.Sleep(wait)
		if err := try("mistyped", client); herb.CodeOf(err) != herb.CodeUnauthenticated {
			t.Errorf("after RetryAfter has passed: %v", err)
		}
	})
}

func TestLimiter_bounded(t *testing.T) {
	t.Parallel()
	l, now := newLimiter(), time.Unix(0, 0)
	for i := range 5 * maxClients {
		l.fail(clientAt(fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255)), now)
		if n := len(l.clients); n > maxClients {
			t.Fatalf("the limiter holds %d clients", n)
		}
	}
}

func TestCheckToken(t *testing.T) {
	t.Parallel()
	secret, _ := Mint("k", nil, time.Now(), time.Time{})
	for _, c := range []struct{ name, token, want string }{
		{"one letter", "a", "1 characters"},
		{"short", "correct-horse-battery-staple-31", "31 characters"},
		{"one letter many times", strings.Repeat("a", 64), "1 different"},
		{"few letters", strings.Repeat("abcabcdef", 8), "6 different"},
		{"16 random bytes", "9f86d081884c7d659a2feaa0c55ad015", ""},
		{"a key", secret, ""},
	} {
		err := CheckToken(c.token)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "openssl rand -hex 32")):
			t.Errorf("%s: %v; want an error about %q that says how to make a token", c.name, err, c.want)
		case err != nil && len(c.token) > 1 && strings.Contains(err.Error(), c.token):
			t.Errorf("%s: the message repeats the token", c.name)
		}
	}
}
