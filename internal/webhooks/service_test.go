package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/programtest"
	"herbarium/internal/store"
	"herbarium/internal/store/sqlite"
	"herbarium/internal/testseed"
)

// receiver is an endpoint that responds with statuses, the last one for all further requests.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	statuses []int
	requests []*http.Request
	bodies   []string
}

func newReceiver(t *testing.T, statuses ...int) *receiver {
	t.Helper()
	r := &receiver{statuses: statuses}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests, r.bodies = append(r.requests, request), append(r.bodies, string(body))
	status := r.statuses[0]
	if len(r.statuses) > 1 {
		r.statuses = r.statuses[1:]
	}
	w.Header().Set("Location", "/elsewhere")
	w.WriteHeader(status)
}

// received returns the number of requests.
func (r *receiver) received() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.requests)
}

// installation is a database with webhooks, and a clock.
type installation struct {
	*sqlite.Store
	path string
	now  time.Time
	log  programtest.Buffer
}

func newInstallation(t *testing.T) *installation {
	t.Helper()
	i := &installation{path: filepath.Join(t.TempDir(), "herbarium.db"),
		now: time.Now().Add(time.Minute).UTC().Truncate(time.Microsecond)}
	i.Store = i.open(t)
	return i
}

func (i *installation) open(t *testing.T) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), i.path, sqlite.Options{})
	must.NoError(t, err)
	must.CloseAfter(t, s)
	return s
}

// node returns a service without jitter.
func (i *installation) node(t *testing.T) *Service {
	t.Helper()
	now := func() time.Time { return i.now }
	return New(Options{
		Store: i.open(t), Sender: NewSender(SenderOptions{Now: now}), PublicURL: "https://example.org/data", Now: now,
		Jitter: func(time.Duration) time.Duration { return 0 },
		Log:    slog.New(slog.NewTextHandler(&i.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
}

func (i *installation) add(t *testing.T, id, url string) herb.Webhook {
	t.Helper()
	w := herb.Webhook{ID: id, URL: herb.Address(url), Secret: NewSecret(), Datasets: []string{"*"}, Private: true,
		Created: i.now}
	must.NoError(t, i.AddWebhook(t.Context(), w, ""))
	return w
}

var prices = herb.Ref{Namespace: "shop", Name: "prices"}

// publish publishes a version of shop/prices in place of another one.
func (i *installation) publish(t *testing.T, version, live string) {
	t.Helper()
	d := herb.Dataset{Ref: prices, Version: version, Access: herb.AccessOpen, Published: i.now,
		Details: herb.Details{Message: "Autumn"}}
	if live != "" {
		d.Compared = &herb.RecordChanges{Since: live, SinceAccess: herb.AccessOpen, Added: 3, Changed: 1}
	}
	_, err := i.AddVersion(t.Context(), d, live, herb.Keep{Versions: 10}, i.now)
	must.NoError(t, err)
}

// deliver makes all attempts that are due and waits for their end.
func deliver(t *testing.T, nodes ...*Service) {
	t.Helper()
	for _, n := range nodes {
		must.NoError(t, n.deliverDue(t.Context()))
	}
	for _, n := range nodes {
		n.running.Wait()
	}
}

// states returns the state, the number of attempts and the result of each delivery of a webhook.
func (i *installation) states(t *testing.T, webhook string) (states []string) {
	t.Helper()
	all, err := i.Deliveries(t.Context(), webhook, 100)
	must.NoError(t, err)
	for _, d := range all {
		states = append(states, strings.Join([]string{string(d.State), strings.Repeat("I", d.Attempts), d.Result}, " "))
	}
	return states
}

func wantEqual[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestService delivers an event to an endpoint that fails twice, with the same message each time.
func TestService(t *testing.T) {
	t.Parallel()
	i, r := newInstallation(t), newReceiver(t, 500, 302, 204)
	i.publish(t, "v1", "")
	w := i.add(t, "a", r.URL+"/hook?token=hush")
	i.publish(t, "v2", "v1")
	n := i.node(t)
	for _, step := range []struct {
		after time.Duration
		want  string
	}{
		{0, "retrying I status 500"},
		{5*time.Second - 1, "retrying I status 500"},
		{1, "retrying II status 302; redirects are not followed"},
		{5 * time.Minute, "delivered III status 204"},
		{24 * time.Hour, "delivered III status 204"},
	} {
		i.now = i.now.Add(step.after)
		deliver(t, n)
		wantEqual(t, "deliveries", []string{step.want}, i.states(t, "a"))
	}
	if r.received() != 3 || r.bodies[0] != r.bodies[2] ||
		r.requests[0].Header.Get(headerID) != r.requests[2].Header.Get(headerID) {
		t.Fatalf("received %q", r.bodies)
	}
	if !strings.Contains(r.bodies[0], "_from=v1&_to=v2") {
		t.Errorf("the address is escaped in %s", r.bodies[0])
	}
	var got map[string]any
	must.NoError(t, json.Unmarshal([]byte(r.bodies[0]), &got))
	if at, err := time.Parse(time.RFC3339Nano, got["timestamp"].(string)); err != nil || time.Since(at) > time.Hour {
		t.Errorf("timestamp %v, %v", got["timestamp"], err)
	}
	delete(got, "timestamp")
	wantEqual(t, "body", map[string]any{"type": "dataset.published", "data": map[string]any{
		"dataset": "shop/prices", "version": "v2", "previous_version": "v1", "message": "Autumn",
		"counts":      map[string]any{"added": 3.0, "removed": 0.0, "changed": 1.0},
		"changes_url": "https://example.org/data/api/v1/shop/prices/changes?_from=v1&_to=v2",
	}}, got)
	if log := i.log.String(); strings.Contains(log, "hush") || strings.Contains(log, string(w.Secret)) ||
		strings.Count(log, "webhook=a") != 3 {
		t.Errorf("log:\n%s", log)
	}
}

// TestService_schedule checks the times of all attempts at an endpoint that never accepts.
func TestService_schedule(t *testing.T) {
	t.Parallel()
	i, r := newInstallation(t), newReceiver(t, 503)
	i.add(t, "a", r.URL)
	i.publish(t, "v1", "")
	n := i.node(t)
	var outcomes []Outcome
	n.opts.Observe = func(o Outcome) { outcomes = append(outcomes, o) }
	began := i.now
	deliver(t, n)
	for _, pause := range pauses() {
		i.now = i.now.Add(pause - 1)
		deliver(t, n)
		i.now = i.now.Add(1)
		deliver(t, n)
	}
	wantEqual(t, "deliveries", []string{"failed IIIIIIIIII status 503"}, i.states(t, "a"))
	if total := i.now.Sub(began); r.received() != 10 || total < 72*time.Hour || total > 80*time.Hour ||
		len(outcomes) != 10 || outcomes[9] != OutcomeFailed {
		t.Errorf("%d attempts in %s: %v", r.received(), total, outcomes)
	}
	i.now = i.now.Add(24 * time.Hour)
	deliver(t, n)
	if r.received() != 10 {
		t.Error("another attempt was made")
	}
}

// TestService_gone disables a webhook whose endpoint is gone, with all its deliveries.
func TestService_gone(t *testing.T) {
	t.Parallel()
	i, r := newInstallation(t), newReceiver(t, 410)
	i.add(t, "a", r.URL)
	for _, v := range []string{"v1", "v2", "v3", "v4", "v5", "v6"} {
		live, _ := i.Version(t.Context(), prices, "")
		i.publish(t, v, live.Version)
	}
	n := i.node(t)
	deliver(t, n)
	i.publish(t, "v7", "v6")
	i.now = i.now.Add(time.Hour)
	deliver(t, n)
	states := i.states(t, "a")
	if r.received() > concurrency || len(states) != 6 || !slices.Contains(states, "failed I status 410") ||
		states[5] != "failed  the webhook is disabled" {
		t.Errorf("%d requests; %q", r.received(), states)
	}
	entries, err := i.AuditEntries(t.Context(), herb.AuditQuery{Subject: "a"})
	must.NoError(t, err)
	if e := entries[len(entries)-1]; e.Action != herb.AuditWebhookDisabled || e.Actor != "server" ||
		e.Detail != "reason: status 410" {
		t.Errorf("%+v", e)
	}
}

// TestService_slow has an endpoint that does not respond: others get their events meanwhile.
func TestService_slow(t *testing.T) {
	t.Parallel()
	i, r := newInstallation(t), newReceiver(t, 200)
	release := make(chan struct{})
	var began sync.WaitGroup
	began.Add(concurrency)
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		began.Done() // panics if there are more
		<-release
	}))
	t.Cleanup(slow.Close)
	i.add(t, "slow", slow.URL)
	i.add(t, "fast", r.URL)
	n := i.node(t)
	live := ""
	for _, v := range []string{"v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8"} {
		i.publish(t, v, live)
		live = v
	}
	must.NoError(t, n.deliverDue(t.Context()))
	began.Wait()
	for n.addInFlight("fast", 0) > 0 || r.received() < 8 {
		must.NoError(t, n.deliverDue(t.Context()))
		<-n.wake
	}
	if got := n.addInFlight("slow", 0); got != concurrency {
		t.Errorf("%d attempts at the slow endpoint", got)
	}
	close(release)
	n.running.Wait()
}

// TestService_nodes has several nodes, of which some die during an attempt: each attempt is made
// by one, and every event arrives.
func TestService_nodes(t *testing.T) {
	t.Parallel()
	i, r := newInstallation(t), newReceiver(t, 200)
	i.add(t, "a", r.URL)
	live := ""
	for _, v := range []string{"v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9"} {
		i.publish(t, v, live)
		live = v
	}
	dead := i.open(t) // claims, and is never heard of again
	claimed, err := dead.ClaimDeliveries(t.Context(), "a", 3, i.now, i.now.Add(lease))
	must.NoError(t, err)
	nodes := []*Service{i.node(t), i.node(t), i.node(t)}
	deliver(t, nodes...)
	deliver(t, nodes...)
	if len(claimed) != 3 || r.received() != 6 {
		t.Errorf("%d of 6 events arrived while %d are claimed", r.received(), len(claimed))
	}
	i.now = i.now.Add(lease - 1)
	deliver(t, nodes...)
	if r.received() != 6 {
		t.Error("a node did not wait for the end of a claim")
	}
	i.now = i.now.Add(1)
	deliver(t, nodes...)
	ids := map[string]bool{}
	for _, request := range r.requests {
		ids[request.Header.Get(headerID)] = true
	}
	if r.received() != 9 || len(ids) != 9 {
		t.Errorf("%d requests with %d events", r.received(), len(ids))
	}
}

// TestService_random has nodes that die before they send, after they have sent, or not at all, and
// an endpoint that fails now and then: every event is accepted, or was attempted often enough.
func TestService_random(t *testing.T) {
	t.Parallel()
	g := rand.New(rand.NewPCG(testseed.Seed(t), 26))
	i := newInstallation(t)
	var mu sync.Mutex
	accepted := map[string]bool{}
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if g.IntN(3) > 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		accepted[r.Header.Get(headerID)] = true
	}))
	t.Cleanup(endpoint.Close)
	i.add(t, "a", endpoint.URL)
	live := ""
	for n := range 10 {
		v := fmt.Sprint("v", n)
		i.publish(t, v, live)
		live = v
	}
	alive, mute := i.node(t), i.node(t)
	mute.opts.Store = failingStore{mute.opts.Store}
	pending := func() (n int) {
		for _, state := range i.states(t, "a") {
			if strings.HasPrefix(state, "pending") || strings.HasPrefix(state, "retrying") {
				n++
			}
		}
		return n
	}
	for round := 0; pending() > 0; round++ {
		if round > 1000 {
			t.Fatalf("not delivered: %q", i.states(t, "a"))
		}
		var fate int
		locked(&mu, func() { fate, i.now = g.IntN(4), i.now.Add(time.Duration(g.Int64N(int64(12*time.Hour)))) })
		switch fate {
		case 0: // dies before it sends
			_, err := i.ClaimDeliveries(t.Context(), "a", concurrency, i.now, i.now.Add(lease))
			must.NoError(t, err)
		case 1:
			deliver(t, mute)
		}
		if fate > 0 {
			deliver(t, alive)
		}
	}
	all, err := i.Deliveries(t.Context(), "a", 100)
	must.NoError(t, err)
	for _, d := range all {
		if delivered := d.State == store.DeliveryDelivered; delivered && !accepted[d.Event] || !delivered &&
			d.Attempts < len(pauses())+1 {
			t.Errorf("%+v was accepted: %t", d, accepted[d.Event])
		}
	}
	if len(all) != 10 {
		t.Errorf("%d of 10 events", len(all))
	}
}

// locked calls f while a mutex is locked.
func locked(mu *sync.Mutex, f func()) {
	mu.Lock()
	defer mu.Unlock()
	f()
}

// TestService_stopped stops a node during an attempt: the next one repeats it at once.
func TestService_stopped(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	arrived := make(chan struct{}, 9)
	endpoint := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a server notices the end of the connection after it
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(endpoint.Close)
	i.add(t, "a", endpoint.URL)
	i.publish(t, "v1", "")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	n := i.node(t)
	n.wake <- struct{}{} // Run need not wait for its first tick
	go func() { ended <- n.Run(ctx) }()
	<-arrived
	stop()
	must.NoError(t, <-ended)
	wantEqual(t, "deliveries", []string{"retrying I the server was stopped"}, i.states(t, "a"))
	if due, err := i.DueWebhooks(t.Context(), i.now); err != nil || len(due) != 1 {
		t.Errorf("%d webhooks are due, %v", len(due), err)
	}
}

// TestService_unavailable cannot record an attempt: the event is sent again when the claim ends.
func TestService_unavailable(t *testing.T) {
	t.Parallel()
	i, r := newInstallation(t), newReceiver(t, 200)
	i.add(t, "a", r.URL)
	i.publish(t, "v1", "")
	n := i.node(t)
	n.opts.Store = failingStore{n.opts.Store}
	must.NoError(t, n.deliverDue(t.Context()))
	n.running.Wait()
	if !strings.Contains(i.log.String(), "cannot record a webhook delivery; it may be repeated") {
		t.Errorf("log:\n%s", i.log.String())
	}
	i.now = i.now.Add(lease)
	deliver(t, i.node(t))
	wantEqual(t, "deliveries", []string{"delivered II status 200"}, i.states(t, "a"))
	if r.received() != 2 || r.requests[0].Header.Get(headerID) != r.requests[1].Header.Get(headerID) {
		t.Errorf("%d requests", r.received())
	}
}

// failingStore cannot record attempts.
type failingStore struct{ Store }

// RecordAttempt implements Store.
func (failingStore) RecordAttempt(context.Context, store.Delivery) (bool, error) {
	return false, herb.Errorf(herb.CodeUnavailable, "the database is down")
}
