// Package webhooks sends events about datasets to the endpoints of other programs, as Standard
// Webhooks 1.0.0 specifies. The events are stored in the transaction of the change that they are
// about, so that each is delivered at least once.
package webhooks

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

const (
	// pollEvery is the interval at which a server looks for due deliveries.
	pollEvery = time.Second
	// cleanEvery is the interval at which a server deletes old deliveries.
	cleanEvery = time.Hour
	// concurrency is the number of attempts that a server makes at once for each webhook. It has no
	// limit for all of them together, so that no webhook waits for another one.
	concurrency = 4
	// lease is the time within which an attempt is recorded; then another server begins one. Clocks
	// of nodes may differ by up to lease - Timeout - recordTimeout.
	lease = time.Minute
	// recordTimeout limits the time for recording an attempt.
	recordTimeout = 5 * time.Second
)

// Store stores the deliveries of all servers.
type Store interface {
	DueWebhooks(ctx context.Context, now time.Time) ([]herb.Webhook, error)
	ClaimDeliveries(ctx context.Context, webhook string, limit int, now, until time.Time) ([]store.Delivery, error)
	RecordAttempt(ctx context.Context, d store.Delivery) (recorded bool, err error)
	DisableWebhook(ctx context.Context, id, reason string, at time.Time) error
	DeleteDeliveries(ctx context.Context, before time.Time) error
}

// Options configures a Service. Store, Sender and Log are required.
type Options struct {
	Store     Store
	Sender    *Sender
	PublicURL string // base of links; empty: links are paths
	Log       *slog.Logger
	Observe   func(Outcome)                           // is called after each attempt; nil disables it
	Now       func() time.Time                        // nil means time.Now
	Jitter    func(pause time.Duration) time.Duration // is added to a pause; nil means up to a tenth of it
}

// Outcome is the result of an attempt in one word.
type Outcome string

// The outcomes.
const (
	OutcomeDelivered Outcome = "delivered"
	OutcomeRetry     Outcome = "retry"  // it failed, and another one follows
	OutcomeFailed    Outcome = "failed" // it was the last one
	OutcomeGone      Outcome = "gone"   // the webhook was disabled, as it has requested
)

// Outcomes lists all outcomes.
func Outcomes() []Outcome {
	return []Outcome{OutcomeDelivered, OutcomeRetry, OutcomeFailed, OutcomeGone}
}

// Service delivers events. Any number of servers with the same database may run one.
type Service struct {
	opts    Options
	running sync.WaitGroup
	wake    chan struct{} // has an element after an attempt has ended

	mu       sync.Mutex
	inFlight map[string]int // attempts that run, by the ID of the webhook
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
	return &Service{opts: o, wake: make(chan struct{}, 1), inFlight: map[string]int{}}
}

// Run delivers events until ctx is done. Attempts that run then are repeated by the next server.
func (s *Service) Run(ctx context.Context) error {
	defer s.running.Wait()
	poll, clean := time.NewTicker(pollEvery), time.NewTicker(cleanEvery)
	defer poll.Stop()
	defer clean.Stop()
	failed := false
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-clean.C:
			err = s.opts.Store.DeleteDeliveries(ctx, s.opts.Now().Add(-store.DeliveryRetention))
		case <-poll.C:
			err = s.deliverDue(ctx)
		case <-s.wake:
			err = s.deliverDue(ctx)
		}
		if err != nil && !failed && ctx.Err() == nil { // once, not every second while the database is down
			s.opts.Log.Warn("cannot read webhook deliveries; will retry", "err", err)
		}
		failed = err != nil
	}
}

// deliverDue begins attempts at due deliveries, as far as the webhooks have free slots.
func (s *Service) deliverDue(ctx context.Context) error {
	now := s.opts.Now()
	hooks, err := s.opts.Store.DueWebhooks(ctx, now)
	if err != nil {
		return err
	}
	for _, w := range hooks {
		free := concurrency - s.addInFlight(w.ID, 0)
		if free <= 0 {
			continue
		}
		claimed, err := s.opts.Store.ClaimDeliveries(ctx, w.ID, free, now, now.Add(lease))
		if err != nil {
			return err
		}
		s.addInFlight(w.ID, len(claimed))
		for _, d := range claimed {
			s.running.Go(func() {
				defer s.release(w.ID)
				s.attempt(ctx, w, d)
			})
		}
	}
	return nil
}

// addInFlight changes the number of attempts of a webhook that run, and returns it.
func (s *Service) addInFlight(webhook string, n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n += s.inFlight[webhook]
	s.inFlight[webhook] = n
	if n == 0 {
		delete(s.inFlight, webhook)
	}
	return n
}

// release frees the slot of an attempt that has ended.
func (s *Service) release(webhook string) {
	s.addInFlight(webhook, -1)
	select {
	case s.wake <- struct{}{}:
	default: // deliverDue runs soon anyway
	}
}
