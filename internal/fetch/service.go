package fetch

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/publish"
	"herbarium/internal/publish/receive"
	"herbarium/internal/store"
	"herbarium/internal/versions"
)

const (
	// pollEvery is the interval at which a server looks for due fetches, and syncEvery the one at
	// which it looks for datasets that are fetched.
	pollEvery = time.Second
	syncEvery = 10 * time.Second
	// concurrency is the number of fetches that a server makes at once, each from another host.
	concurrency = 8
	// lease is how long a fetch is left to its server without being renewed; then another one may
	// fetch. Clocks of nodes may differ by up to lease - renewEvery.
	lease      = 45 * time.Second
	renewEvery = 15 * time.Second
	// missedAfter is how long a fetch is overdue before no server ran when it was due.
	missedAfter = time.Minute
	// recordTimeout limits the time for recording a fetch.
	recordTimeout = 10 * time.Second
)

// Store stores the fetches of all servers.
type Store interface {
	AddFetch(ctx context.Context, f store.Fetch) error
	DueFetchHosts(ctx context.Context, now time.Time) ([]string, error)
	ClaimFetch(ctx context.Context, host string, ref herb.Ref, now, until time.Time) (*store.Fetch, error)
	UpdateFetch(ctx context.Context, f store.Fetch) (bool, error)
	RemoveFetch(ctx context.Context, ref herb.Ref) error
	Fetches(ctx context.Context, ref herb.Ref) ([]store.Fetch, error)
	AddUnpublished(ctx context.Context, ref herb.Ref, result herb.AuditResult, detail string) error
}

// Queue publishes files.
type Queue interface {
	Start(ctx context.Context, r publish.Request) (publish.Publish, error)
	State(ctx context.Context, id string, wait time.Duration) (publish.Publish, error)
}

// Options configures a Service. All but the last four are required.
type Options struct {
	Store  Store
	Client *Client
	Queue  Queue
	// Live returns the live versions of all datasets, and LiveVersion describes one.
	Live        func(ctx context.Context) ([]herb.LiveVersion, error)
	LiveVersion func(ctx context.Context, ref herb.Ref) (herb.Dataset, error)
	Log         *slog.Logger

	Observe func(Outcome)                           // is called after each fetch; nil disables it
	Now     func() time.Time                        // nil means time.Now
	Jitter  func(pause time.Duration) time.Duration // is added to a pause; nil means up to a tenth of it
	// Poll is the interval at which due fetches are looked for; 0 means a second.
	Poll time.Duration
}

// Outcome is the result of a fetch in one word.
type Outcome string

// The outcomes.
const (
	OutcomePublished Outcome = "published"
	OutcomeUnchanged Outcome = "unchanged"
	OutcomeRejected  Outcome = "rejected" // by the gate
	OutcomeFailed    Outcome = "failed"
)

// Outcomes lists all outcomes.
func Outcomes() []Outcome {
	return []Outcome{OutcomePublished, OutcomeUnchanged, OutcomeRejected, OutcomeFailed}
}

// Service fetches files when they are due. Any number of servers with the same database may run
// one: a fetch is claimed in the database, and another server takes it over if it is not renewed.
type Service struct {
	opts    Options
	running sync.WaitGroup
	wake    chan struct{} // has an element after a fetch has ended

	mu       sync.Mutex
	inFlight int
}

// New returns a service that Run starts.
func New(o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Jitter == nil {
		o.Jitter = func(pause time.Duration) time.Duration { return rand.N(pause/10 + 1) }
	}
	if o.Observe == nil {
		o.Observe = func(Outcome) {}
	}
	if o.Poll == 0 {
		o.Poll = pollEvery
	}
	return &Service{opts: o, wake: make(chan struct{}, 1)}
}

// Run fetches files until ctx is done. Fetches that run then are repeated by the next server.
func (s *Service) Run(ctx context.Context) error {
	defer s.running.Wait()
	poll := time.NewTicker(s.opts.Poll)
	defer poll.Stop()
	var synced time.Time
	for failed := false; ; {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-poll.C:
		case <-s.wake:
		}
		if now := s.opts.Now(); now.Sub(synced) >= syncEvery {
			err = s.sync(ctx, synced.IsZero())
			if err == nil {
				synced = now
			}
		}
		err = errors.Join(err, s.fetchDue(ctx))
		if err != nil && !failed && ctx.Err() == nil { // once, not every second while the database is down
			s.opts.Log.Warn("cannot read what has to be fetched; will retry", "err", err)
		}
		failed = err != nil
	}
}

// fetchDue begins fetches that are due, one for each host.
func (s *Service) fetchDue(ctx context.Context) error {
	now := s.opts.Now()
	hosts, err := s.opts.Store.DueFetchHosts(ctx, now)
	if err != nil {
		return err
	}
	for _, host := range hosts {
		if s.addInFlight(0) >= concurrency {
			return nil
		}
		claimed, err := s.opts.Store.ClaimFetch(ctx, host, herb.Ref{}, now, now.Add(lease))
		if err != nil {
			return err
		}
		if claimed == nil {
			continue
		}
		s.addInFlight(1)
		s.running.Go(func() {
			defer s.release()
			s.fetch(ctx, *claimed)
		})
	}
	return nil
}

// addInFlight changes the number of fetches that run, and returns it.
func (s *Service) addInFlight(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight += n
	return s.inFlight
}

// release frees the slot of a fetch that has ended.
func (s *Service) release() {
	s.addInFlight(-1)
	select {
	case s.wake <- struct{}{}:
	default: // fetchDue runs soon anyway
	}
}

// States returns the states of the datasets that are fetched: of one, or of all if ref is zero.
func (s *Service) States(ctx context.Context, ref herb.Ref) (map[herb.Ref]State, error) {
	return States(ctx, s.opts.Store, ref, s.opts.Now())
}

// Reader reads stored fetches.
type Reader interface {
	Fetches(ctx context.Context, ref herb.Ref) ([]store.Fetch, error)
}

// States returns the states at a time of the datasets that are fetched: of one, or of all if ref is
// zero.
func States(ctx context.Context, r Reader, ref herb.Ref, now time.Time) (map[herb.Ref]State, error) {
	stored, err := r.Fetches(ctx, ref)
	if err != nil {
		return nil, err
	}
	states := map[herb.Ref]State{}
	for _, f := range stored {
		state, err := decodeState(f, now)
		if err != nil {
			return nil, err
		}
		states[f.Ref] = state.State
	}
	return states, nil
}

// Now fetches the file of a dataset for an actor, also if it is not due, and publishes it with the
// consents that are given. p has no result if there was no publish, as when the file has not
// changed since it was fetched.
func (s *Service) Now(ctx context.Context, ref herb.Ref, actor herb.Actor, given ...herb.Consent) (p publish.Publish,
	err error) {
	live, err := s.opts.LiveVersion(ctx, ref)
	if err != nil {
		return p, err
	}
	source := sourceOf(live)
	if source.Address == "" {
		return p, errNotFetched(ref)
	}
	if err := s.sync(ctx, false); err != nil {
		return p, err
	}
	now := s.opts.Now()
	claimed, err := s.opts.Store.ClaimFetch(ctx, "", ref, now, now.Add(lease))
	if err != nil {
		return p, err
	}
	if claimed == nil {
		return p, herb.Errorf(herb.CodeUnavailable, "a file of the same host is being fetched; try again")
	}
	return s.attempt(ctx, *claimed, actor, given...)
}

// fetch fetches and publishes a file that was claimed.
func (s *Service) fetch(ctx context.Context, f store.Fetch) {
	_, err := s.attempt(ctx, f, herb.Actor{ID: "server", Origin: "fetch " + f.Host})
	if err != nil && ctx.Err() == nil {
		s.opts.Log.Warn("source not fetched", "dataset", f.Ref.String(), "host", f.Host, "err", err)
	}
}

// attempt fetches a file that was claimed, publishes it unless it has not changed, and records the
// result. The claim expires if it fails before.
func (s *Service) attempt(ctx context.Context, f store.Fetch, actor herb.Actor, given ...herb.Consent) (
	p publish.Publish, err error) {
	state, err := decodeState(f, s.opts.Now())
	if err != nil {
		return p, err
	}
	live, err := s.opts.LiveVersion(ctx, f.Ref)
	if err != nil {
		return p, err
	}
	state.FetchSource = sourceOf(live)
	if state.Address != f.Address {
		return p, s.opts.Store.RemoveFetch(ctx, f.Ref) // the next sync adds what is fetched now
	}
	stop := s.renew(ctx, f)
	outcome, p, err := s.publish(ctx, f.Ref, live, &state, actor, given)
	stop()
	if outcome == OutcomeFailed && p.ID == "" && state.Failures == 0 && ctx.Err() == nil { // publishes record theirs
		s.auditFailure(herb.WithActor(ctx, actor), f)
	}
	s.record(ctx, f, state, outcome, err)
	return p, err
}

// auditFailure adds the first of several failures in a row to the audit log, and informs webhooks.
func (s *Service) auditFailure(ctx context.Context, f store.Fetch) {
	err := s.opts.Store.AddUnpublished(ctx, f.Ref, herb.AuditFailed, "reason: not fetched from "+f.Host)
	if err != nil {
		s.opts.Log.Warn("cannot add audit entry", "dataset", f.Ref.String(), "err", err)
	}
}

// sourceOf returns where a version is fetched from.
func sourceOf(d herb.Dataset) herb.FetchSource {
	if d.Descriptor == nil {
		return herb.FetchSource{}
	}
	return d.Descriptor.Fetch
}

// publish fetches a file and publishes it, and waits until that has ended.
func (s *Service) publish(ctx context.Context, ref herb.Ref, live herb.Dataset, state *storedState,
	actor herb.Actor, given []herb.Consent) (outcome Outcome, p publish.Publish, err error) {
	file, is, err := s.opts.Client.fetch(ctx, ref, state.FetchSource, state.Known)
	unchanged := errors.Is(err, errUnchanged)
	switch {
	case err == nil, unchanged:
		state.Unsent = time.Time{}
	case state.Unsent.IsZero() && ctx.Err() == nil:
		state.Unsent = s.opts.Now().UTC()
	}
	if unchanged {
		state.Known = is
		return OutcomeUnchanged, p, nil
	}
	if err != nil {
		return OutcomeFailed, p, err
	}
	rejected := file.SHA256 + " " + live.Version
	if rejected == state.Rejected && given == nil { // publishers and webhooks know it
		reason := herb.Errorf(herb.CodeRejected, "%s", cmp.Or(state.Reason, state.Error))
		return OutcomeRejected, p, errors.Join(reason, file.Close())
	}
	request := newRequest(ref, file, state.FetchSource, live.Version, actor)
	request.Consents = append(request.Consents, given...)
	p, err = s.opts.Queue.Start(ctx, request)
	if err != nil {
		return OutcomeFailed, p, err
	}
	for p.Result == nil {
		p, err = s.opts.Queue.State(ctx, p.ID, renewEvery)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return OutcomeFailed, p, err
		}
	}
	switch p.Result.Status {
	case versions.StatusPublished:
		state.Known, state.Changed = is, s.opts.Now().UTC()
		return OutcomePublished, p, nil
	case versions.StatusUnchanged:
		if p.Result.RolledBack == "" && is.SHA256 != state.Known.SHA256 && !live.Published.IsZero() {
			state.Changed = live.Published.UTC() // by a fetch whose result was not recorded, or another publish
		}
		state.Known = is
		return OutcomeUnchanged, p, nil
	case versions.StatusRejected:
		state.Rejected, state.Reason = rejected, herb.Clip(p.Result.Error, maxError)
		return OutcomeRejected, p, herb.Errorf(herb.CodeRejected, "%s", p.Result.Error)
	}
	return OutcomeFailed, p, herb.Errorf(p.Code, "%s", p.Result.Error)
}

// newRequest returns the request to publish a file that was fetched.
func newRequest(ref herb.Ref, file *receive.File, source herb.FetchSource, live string,
	actor herb.Actor) publish.Request {
	actor.Note = "sha256 " + file.SHA256
	r := publish.Request{Ref: ref, File: file, Actor: actor, Fetched: true}
	r.Expected = &live
	if source.AllowBreaking {
		r.Consents = []herb.Consent{herb.ConsentBreaking}
	}
	return r
}

// Fetch fetches a file for a publisher. The caller closes it.
func (s *Service) Fetch(ctx context.Context, ref herb.Ref, source herb.FetchSource) (*receive.File, error) {
	return s.opts.Client.Fetch(ctx, ref, source)
}

// Request makes the next fetch of a dataset due.
func (s *Service) Request(ctx context.Context, ref herb.Ref) error {
	live, err := s.opts.LiveVersion(ctx, ref)
	if err != nil {
		return err
	}
	source := sourceOf(live)
	if source.Address == "" {
		return errNotFetched(ref)
	}
	f := store.Fetch{Ref: ref}
	stored, err := s.opts.Store.Fetches(ctx, ref)
	if err != nil {
		return err
	}
	if len(stored) > 0 {
		f = stored[0]
	}
	return s.schedule(ctx, f, source, s.opts.Now())
}

// errNotFetched returns the error of a dataset that is not fetched.
func errNotFetched(ref herb.Ref) error {
	return herb.Errorf(herb.CodeRejected, "%s is not fetched; publish it with a descriptor whose path is an address and "+
		"that has refresh", ref)
}

// MayFetch reports whether anything may be fetched.
func (s *Service) MayFetch() bool { return !s.opts.Client.opts.Hosts.isEmpty() }
