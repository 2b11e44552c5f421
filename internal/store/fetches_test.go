package store_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
)

// Fetches claims files to be fetched, as several nodes do.
func (suite) Fetches(t *testing.T, db Database) {
	s := open(t, db)
	add := func(name, host, address string, due time.Duration, attempts int) {
		t.Helper()
		f := store.Fetch{Ref: herb.Ref{Namespace: "shop", Name: name}, Host: host, Address: address, Attempts: attempts,
			Content: []byte(`{"of":"` + address + `"}`)}
		if due >= 0 {
			f.Due = day.Add(due)
		}
		must.NoError(t, s.AddFetch(t.Context(), f))
	}
	claim := func(host, name string, at time.Duration, want string) (f store.Fetch) {
		t.Helper()
		ref := herb.Ref{}
		if name != "" {
			ref = herb.Ref{Namespace: "shop", Name: name}
		}
		claimed, err := s.ClaimFetch(t.Context(), host, ref, day.Add(at), day.Add(at+time.Minute))
		must.NoError(t, err)
		got := ""
		if claimed != nil {
			f = *claimed
			got = fmt.Sprint(f.Name, " ", f.Attempts)
		}
		if got != want {
			t.Errorf("%s %s at %s: %q, want %q", host, name, at, got, want)
		}
		return f
	}
	update := func(f store.Fetch, want bool) {
		t.Helper()
		got, err := s.UpdateFetch(t.Context(), f)
		if got != want || err != nil {
			t.Errorf("update %s: %t, %v", f.Name, got, err)
		}
	}
	hosts := func(at time.Duration, want ...string) {
		t.Helper()
		wantResult(t, "hosts", want)(s.DueFetchHosts(t.Context(), day.Add(at)))
	}
	add("a", "x", "https://x/a", 2*time.Second, 0)
	add("b", "x", "https://x/b", time.Second, 0)
	add("c", "x", "https://x/c", -1, 0)
	add("d", "y", "https://y/d", time.Hour, 0)
	hosts(0)
	hosts(time.Second, "x")
	claim("x", "", 0, "")
	b := claim("x", "", 2*time.Second, "b 1")
	claim("x", "", 2*time.Second, "") // one at a time
	claim("", "c", 2*time.Second, "")
	hosts(2 * time.Second)
	b.Due, b.Claimed, b.Content = day.Add(time.Hour), time.Time{}, []byte(`{"n":1}`)
	update(b, true)
	claim("x", "", 3*time.Second, "a 1")
	a := claim("x", "", 63*time.Second, "a 2") // the claim has expired
	dead := a
	dead.Attempts = 1
	update(dead, false)
	a.Claimed, a.Due = time.Time{}, time.Time{}
	update(a, true)
	claim("", "c", 64*time.Second, "c 1")
	add("b", "x", "https://x/b", 2*time.Hour, 0) // it was claimed since
	found, err := s.Fetches(t.Context(), herb.Ref{})
	must.NoError(t, err)
	if len(found) != 4 || !found[1].Due.Equal(day.Add(time.Hour)) || string(found[1].Content) != `{"n":1}` ||
		!found[0].Due.IsZero() {
		t.Errorf("%+v", found)
	}
	hosts(100*time.Hour, "x", "y")
	add("d", "y", "https://y/d", time.Minute, 0)
	hosts(100*time.Hour, "y", "x")             // those that have waited longest first
	add("b", "z", "https://z/b", time.Hour, 1) // another address
	update(b, false)
	must.NoError(t, s.RemoveFetch(t.Context(), a.Ref))
	found, err = s.Fetches(t.Context(), herb.Ref{})
	if err != nil || len(found) != 3 || string(found[0].Content) != `{"of":"https://z/b"}` || found[0].Host != "z" {
		t.Errorf("%+v, %v", found, err)
	}

	found, err = s.Fetches(t.Context(), herb.Ref{Namespace: "shop", Name: "d"})
	if err != nil || len(found) != 1 || found[0].Name != "d" {
		t.Errorf("%+v, %v", found, err)
	}

	var claimed atomic.Int32
	var running sync.WaitGroup
	for range 4 {
		other := open(t, db)
		running.Go(func() {
			f, err := other.ClaimFetch(t.Context(), "y", herb.Ref{}, day.Add(2*time.Hour), day.Add(3*time.Hour))
			if err == nil && f != nil {
				claimed.Add(1)
			}
		})
	}
	running.Wait()
	if claimed.Load() != 1 {
		t.Errorf("%d programs have claimed a fetch", claimed.Load())
	}
}
