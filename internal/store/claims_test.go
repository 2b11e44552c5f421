package store_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herbarium/internal/must"
)

// Claims claims work for several programs: one has it until it ends its claim or the claim expires.
func (suite) Claims(t *testing.T, db Database) {
	s := open(t, db)
	claim := func(name, holder string, now, until time.Duration, want bool) {
		t.Helper()
		got, err := s.Claim(t.Context(), name, holder, day.Add(now), day.Add(until))
		if got != want || err != nil {
			t.Errorf("%s claims %s at %s: %t, %v; want %t", holder, name, now, got, err, want)
		}
	}
	end := func(name, holder string, now time.Duration) {
		t.Helper()
		must.NoError(t, s.EndClaim(t.Context(), name, holder, day.Add(now)))
	}
	claim("x", "ann", 0, time.Minute, true)
	claim("x", "bob", time.Second, time.Hour, false)
	claim("y", "bob", 0, time.Hour, true)
	claim("x", "ann", time.Second, 2*time.Minute, true) // extends it
	claim("x", "bob", 90*time.Second, time.Hour, false)
	end("x", "bob", 90*time.Second) // is not its own
	claim("x", "bob", 119*time.Second, time.Hour, false)
	claim("x", "bob", 120*time.Second, time.Hour, true) // it has expired
	claim("x", "ann", 120*time.Second, time.Hour, false)
	end("x", "bob", 3*time.Minute)
	claim("x", "ann", 3*time.Minute, time.Hour, true)
	claim("y", "ann", 3*time.Minute, time.Hour, false)

	var claimed atomic.Int32
	var running sync.WaitGroup
	for _, holder := range []string{"ann", "bob", "cat", "dan"} {
		running.Go(func() {
			is, err := s.Claim(t.Context(), "z", holder, day, day.Add(time.Hour))
			if err != nil {
				t.Error(err)
			}
			if is {
				claimed.Add(1)
			}
		})
	}
	running.Wait()
	if n := claimed.Load(); n != 1 {
		t.Errorf("%d programs have claimed the same work", n)
	}
}
