package fetch

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/publish"
	"herbarium/internal/store"
	"herbarium/internal/store/sqlite"
	"herbarium/internal/versions"
)

// site is a source of files, the datasets that are fetched from it, and a clock.
type site struct {
	origin
	store *sqlite.Store

	mu        sync.Mutex
	now       time.Time
	live      map[herb.Ref]herb.FetchSource
	requests  map[string]int // by host and path
	busy      map[string]int // requests that run, by host
	published []string
	consents  []herb.Consent   // of the last publish
	status    int              // of the origin; 0: 200
	result    *versions.Result // of publishes; nil: published
	after     string           // Retry-After
	constant  bool             // the files do not change
	started   chan struct{}    // is closed by the first publish; nil: none
}

func newTestSite(t *testing.T) *site {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), store.DatabaseFile), sqlite.Options{})
	must.NoError(t, err)
	t.Cleanup(func() { must.NoError(t, db.Close()) })
	s := &site{store: db, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), live: map[herb.Ref]herb.FetchSource{},
		requests: map[string]int{}, busy: map[string]int{}}
	s.origin = newOrigin(t, func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests[r.Host+r.URL.Path]++
		s.busy[r.Host]++
		if s.busy[r.Host] > 1 {
			t.Errorf("%d fetches from %s at once", s.busy[r.Host], r.Host)
		}
		status, after, content := s.status, s.after, fmt.Sprint("a\n", s.now.Unix(), "\n")
		if s.constant {
			content = "a\n1\n"
		}
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			s.busy[r.Host]--
			s.mu.Unlock()
		}()
		if status != 0 {
			w.Header().Set("Retry-After", after)
			w.WriteHeader(status)
			return
		}
		_, _ = io.WriteString(w, content)
	})
	return s
}

func (s *site) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// Start implements Queue.
func (s *site) Start(_ context.Context, r publish.Request) (publish.Publish, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.published, s.consents = append(s.published, r.Ref.String()), r.Consents
	if s.started != nil && len(s.published) == 1 {
		close(s.started)
	}
	result := versions.Result{Status: versions.StatusPublished}
	if s.result != nil {
		result = *s.result
	}
	return publish.Publish{ID: "1", Result: &result}, r.File.Close()
}

// State implements Queue.
func (s *site) State(context.Context, string, time.Duration) (publish.Publish, error) {
	return publish.Publish{}, herb.Errorf(herb.CodeInternal, "no publish runs")
}

// service returns the service of a node.
func (s *site) service(t *testing.T) *Service {
	return New(Options{
		Store: s.store, Queue: s, Log: slog.New(slog.DiscardHandler), Poll: time.Millisecond,
		Client: s.client(t, func(o *ClientOptions) {
			o.TLS = &tls.Config{InsecureSkipVerify: true}
			o.Lookup = func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			}
		}),
		Live: func(context.Context) (all []herb.LiveVersion, err error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			for ref, source := range s.live {
				all = append(all, herb.LiveVersion{Ref: ref, Fetch: source})
			}
			return all, nil
		},
		LiveVersion: func(_ context.Context, ref herb.Ref) (herb.Dataset, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return herb.Dataset{Ref: ref, Version: "v1",
				Details: herb.Details{Descriptor: &herb.Descriptor{Fetch: s.live[ref]}}}, nil
		},
		Now: func() time.Time {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.now
		},
		Jitter: func(time.Duration) time.Duration { return 0 },
	})
}

// add adds a dataset.
func (s *site) add(name, host, refresh string) herb.Ref {
	ref := herb.Ref{Namespace: "shop", Name: name}
	s.set(func() {
		s.live[ref] = herb.FetchSource{Address: "https://" + host + ":" + s.port + "/" + name,
			Refresh: herb.Refresh(refresh)}
	})
	return ref
}

// step advances the clock and runs what a service does at each poll.
func (s *site) step(t *testing.T, service *Service, d time.Duration) {
	t.Helper()
	s.set(func() { s.now = s.now.Add(d) })
	must.NoError(t, service.sync(t.Context(), false))
	must.NoError(t, service.fetchDue(t.Context()))
	service.running.Wait()
}

// state returns the state of a dataset.
func (s *site) state(t *testing.T, service *Service, ref herb.Ref) State {
	t.Helper()
	states, err := service.States(t.Context(), herb.Ref{})
	must.NoError(t, err)
	return states[ref]
}

// TestService follows a dataset through what may happen to its source.
func TestService(t *testing.T) {
	t.Parallel()
	s := newTestSite(t)
	service, ref := s.service(t), s.add("prices", "example.com", "1h")
	want := func(what string, requests, published int, change func(*State)) {
		t.Helper()
		state := s.state(t, service, ref)
		expected := State{FetchSource: s.live[ref]}
		change(&expected)
		n := s.requests["example.com:"+s.port+"/prices"]
		if n != requests || len(s.published) != published || state != expected {
			t.Errorf("%s: %d requests, %d publishes\n%+v; want %d, %d\n%+v", what, n, len(s.published), state, requests,
				published, expected)
		}
	}
	start := s.now
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	s.step(t, service, 0)
	want("new", 0, 0, func(e *State) { e.Next = at(60) })
	s.step(t, service, 59*time.Minute)
	want("not due", 0, 0, func(e *State) { e.Next = at(60) })
	s.step(t, service, time.Minute)
	want("changed", 1, 1, func(e *State) { e.Checked, e.Changed, e.Next = at(60), at(60), at(120) })

	s.set(func() { s.result = &versions.Result{Status: versions.StatusUnchanged} })
	s.step(t, service, time.Hour)
	want("unchanged", 2, 2, func(e *State) { e.Checked, e.Changed, e.Next = at(120), at(60), at(180) })

	s.set(func() { s.status, s.after = 503, "7200" })
	s.step(t, service, time.Hour)
	failed := func(e *State) {
		e.Checked, e.Changed, e.Failing, e.Unsent = at(120), at(60), at(180), at(180)
		e.Error = "the source responded with status 503 Service Unavailable"
	}
	want("down", 3, 2, func(e *State) { failed(e); e.Failures, e.Next = 1, at(300) })
	s.set(func() { s.after = "" })
	for range 12 {
		s.step(t, service, s.state(t, service, ref).Next.Sub(s.now))
	}
	state := s.state(t, service, ref)
	if state.Failures != 13 || state.Next.Sub(s.now) != maxPause || !state.Unreachable(s.now).IsZero() {
		t.Errorf("after failures: %+v at %s", state, s.now)
	}
	if since := state.Unreachable(s.now.Add(7 * 24 * time.Hour)); !since.Equal(at(180)) {
		t.Errorf("unreachable since %s", since)
	}
	n := len(s.published)
	s.set(func() {
		s.status, s.result = 0, &versions.Result{Status: versions.StatusRejected, Error: "most are gone"}
	})
	s.step(t, service, 24*time.Hour)
	if state := s.state(t, service, ref); state.Failures != 14 || state.Error != "most are gone" ||
		len(s.published) != n+1 || !state.Failing.Equal(at(180)) ||
		!state.Unreachable(s.now.Add(1000*time.Hour)).IsZero() { // it can be reached
		t.Errorf("rejected: %+v", state)
	}
	s.set(func() { s.result = nil })
	s.step(t, service, 24*time.Hour)
	if state := s.state(t, service, ref); state.Failures != 0 || state.Error != "" || !state.Failing.IsZero() ||
		!state.Next.Equal(s.now.Add(time.Hour)) {
		t.Errorf("repaired: %+v", state)
	}

	// another time, another address, and no address
	s.add("prices", "example.com", "0 6 * * *")
	s.step(t, service, 0)
	next := s.state(t, service, ref).Next
	if next.Hour() != 6 || next.Minute() != 0 {
		t.Errorf("next at %s", next)
	}
	s.step(t, service, time.Hour)
	if later := s.state(t, service, ref).Next; !later.Equal(next) {
		t.Errorf("next at %s instead of %s", later, next)
	}
	n = len(s.published)
	s.step(t, service, next.Sub(s.now))
	if len(s.published) != n+1 {
		t.Error("it was not fetched at the new time")
	}
	s.add("prices", "b.example.com", "1m")
	s.step(t, service, 0)
	if state := s.state(t, service, ref); state.Changed != (time.Time{}) || !state.Next.Equal(s.now.Add(time.Minute)) {
		t.Errorf("another address: %+v", state)
	}
	s.set(func() { s.live[ref] = herb.FetchSource{} })
	s.step(t, service, time.Minute)
	if states, err := service.States(t.Context(), herb.Ref{}); err != nil || len(states) != 0 {
		t.Errorf("not fetched any more: %+v, %v", states, err)
	}
}

// TestService_rejected fetches a file that stays rejected: publishers learn it once.
func TestService_rejected(t *testing.T) {
	t.Parallel()
	s := newTestSite(t)
	service, ref := s.service(t), s.add("prices", "example.com", "1h")
	s.step(t, service, 0)
	s.set(func() {
		s.constant = true
		s.result = &versions.Result{Status: versions.StatusRejected, Error: "most are gone"}
	})
	for range 3 {
		s.step(t, service, s.state(t, service, ref).Next.Sub(s.now))
	}
	if state := s.state(t, service, ref); len(s.published) != 1 || state.Failures != 3 ||
		state.Error != "most are gone" {
		t.Errorf("%d publishes, %+v", len(s.published), state)
	}

	// the reason is known after another failure, and a consent publishes the file
	s.set(func() { s.status = 503 })
	s.step(t, service, s.state(t, service, ref).Next.Sub(s.now))
	s.set(func() { s.status = 0 })
	_, err := service.Now(t.Context(), ref, herb.Actor{ID: "k"})
	if err == nil || err.Error() != "most are gone" || len(s.published) != 1 {
		t.Errorf("rejected again: %v, %d publishes", err, len(s.published))
	}
	s.set(func() { s.result = nil })
	p, err := service.Now(t.Context(), ref, herb.Actor{ID: "k"}, herb.ConsentBreaking)
	if err != nil || p.Result == nil || len(s.published) != 2 ||
		!slices.Equal(s.consents, []herb.Consent{herb.ConsentBreaking}) {
		t.Errorf("with a consent: %+v, %v", p, err)
	}
}

// TestService_manual fetches on request only.
func TestService_manual(t *testing.T) {
	t.Parallel()
	s := newTestSite(t)
	service, ref := s.service(t), s.add("prices", "example.com", "manual")
	s.step(t, service, 1000*time.Hour)
	s.step(t, service, 1000*time.Hour)
	if len(s.published) != 0 {
		t.Error("it was fetched")
	}
	p, err := service.Now(t.Context(), ref, herb.Actor{ID: "k"})
	if err != nil || p.ID != "1" || len(s.published) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := service.Now(t.Context(), ref, herb.Actor{ID: "k"}); err != nil || p.ID != "" || len(s.published) != 1 {
		t.Errorf("unchanged: %+v, %v", p, err)
	}
	must.NoError(t, service.Request(t.Context(), ref))
	s.step(t, service, time.Second)
	if state := s.state(t, service, ref); len(s.published) != 2 || !state.Next.IsZero() || state.Changed.IsZero() {
		t.Errorf("requested: %+v", state)
	}
	_, err = service.Now(t.Context(), herb.Ref{Namespace: "shop", Name: "other"}, herb.Actor{})
	if herb.CodeOf(err) != herb.CodeRejected {
		t.Error(err)
	}
}

// TestService_killed claims a fetch as a node that dies. Another node takes it over.
func TestService_killed(t *testing.T) {
	t.Parallel()
	s := newTestSite(t)
	dead, service, ref := s.service(t), s.service(t), s.add("prices", "example.com", "1h")
	s.step(t, dead, 0)
	s.set(func() { s.now = s.now.Add(time.Hour) })
	f, err := s.store.ClaimFetch(t.Context(), hostOf(s.live[ref].Address), herb.Ref{}, s.now, s.now.Add(lease))
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	s.step(t, service, lease-time.Second)
	if !s.state(t, service, ref).Running || len(s.published) != 0 {
		t.Error("it was taken over too early")
	}
	if _, err := service.Now(t.Context(), ref, herb.Actor{}); herb.CodeOf(err) != herb.CodeUnavailable {
		t.Error(err)
	}
	s.step(t, service, time.Second)
	if len(s.published) != 1 {
		t.Error("it was not taken over")
	}
	if updated, err := s.store.UpdateFetch(t.Context(), *f); updated || err != nil {
		t.Errorf("the dead node has recorded its fetch: %v", err)
	}
}

// TestService_restart starts a server after a day in which none ran: what is due is spread.
func TestService_restart(t *testing.T) {
	t.Parallel()
	s := newTestSite(t)
	service := s.service(t)
	n := 0
	service.opts.Jitter = func(pause time.Duration) time.Duration {
		n++
		return pause * time.Duration(n) / 100
	}
	refs := []herb.Ref{s.add("a", "a.example.com", "1h"), s.add("b", "b.example.com", "1h"),
		s.add("c", "c.example.com", "2m"), s.add("manual", "d.example.com", "manual")}
	must.NoError(t, service.sync(t.Context(), true))
	s.set(func() { s.now = s.now.Add(24 * time.Hour) })
	must.NoError(t, service.sync(t.Context(), true))
	var after []time.Duration
	for _, ref := range refs[:3] {
		after = append(after, s.state(t, service, ref).Next.Sub(s.now))
	}
	slices.Sort(after)
	if after[0] <= 0 || after[0] == after[1] || after[1] == after[2] || after[2] > 5*time.Minute {
		t.Errorf("they are due after %s", after)
	}
	if next := s.state(t, service, refs[3]).Next; !next.IsZero() {
		t.Errorf("what is fetched on request is due at %s", next)
	}
}

// TestService_run runs a service until it has fetched a file.
func TestService_run(t *testing.T) {
	t.Parallel()
	s := newTestSite(t)
	service, ref := s.service(t), s.add("prices", "example.com", "1h")
	s.step(t, service, 0)
	s.started = make(chan struct{})
	s.set(func() { s.now = s.now.Add(time.Hour) })
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { must.NoError(t, service.Run(ctx)) })
	<-s.started
	stop()
	running.Wait()
	if state := s.state(t, service, ref); state.Running || len(s.published) != 1 {
		t.Errorf("%+v, %d publishes", state, len(s.published))
	}
}

// TestService_many fetches 1,000 datasets of 50 hosts on two nodes: each as often as it is due,
// from each host one at a time.
func TestService_many(t *testing.T) {
	t.Parallel()
	const datasets, hosts = 1000, 50
	s := newTestSite(t)
	for i := range datasets {
		s.add(fmt.Sprintf("d%d", i), fmt.Sprintf("h%d.example.com", i%hosts), "1h")
	}
	first, second := s.service(t), s.service(t)
	must.NoError(t, first.sync(t.Context(), true))
	s.set(func() { s.now = s.now.Add(time.Hour) })
	for {
		due, err := s.store.DueFetchHosts(t.Context(), s.now)
		must.NoError(t, err)
		if len(due) == 0 {
			break
		}
		must.NoError(t, first.fetchDue(t.Context()))
		must.NoError(t, second.fetchDue(t.Context()))
		first.running.Wait()
		second.running.Wait()
	}
	seen := map[string]int{}
	for _, ref := range s.published {
		seen[ref]++
	}
	for ref, n := range seen {
		if n != 1 {
			t.Errorf("%s was published %d times", ref, n)
		}
	}
	states, err := first.States(t.Context(), herb.Ref{})
	must.NoError(t, err)
	for ref, state := range states {
		if !state.Checked.Equal(s.now) || !state.Next.Equal(s.now.Add(time.Hour)) {
			t.Errorf("%s: %+v", ref, state)
		}
	}
	if len(seen) != datasets || len(states) != datasets {
		t.Errorf("%d datasets were published", len(seen))
	}
}
