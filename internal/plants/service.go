package plants

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// Store creates plants in one commit. If it fails, none was created.
type Store interface {
	CreatePlants(ctx context.Context, creations []store.Creation) ([]store.Outcome, error)
}

// Options configures a Service.
type Options struct {
	// MaxBatch is the largest number of plants in one commit. Zero means 1000.
	MaxBatch int
	// Queue is the number of creations that may wait for a commit; more are rejected. Zero means
	// 10,000.
	Queue int
	// Available returns an error if no plant can be created at the moment, without I/O, so that
	// requests fail fast instead of queueing. Nil means always available.
	Available func() error
}

// Service creates plants. Creations that arrive during a commit share the next one, and with it the
// cost of syncing to disk. A batch never waits for more requests: it consists of those queued when
// the previous commit ends.
type Service struct {
	store     Store
	available func() error
	maxBatch  int
	queue     chan *request

	// closed means that the queue accepts no more requests. mu is read-locked around every send, so
	// that Run receives all requests that were sent before it closes the queue.
	mu     sync.RWMutex
	closed bool
}

// request is a creation that waits for its commit.
type request struct {
	creation store.Creation
	done     chan struct{} // closed when the fields below are final
	outcome  store.Outcome
	err      error
}

// New returns a service that creates plants while its Run is running.
func New(s Store, o Options) *Service {
	if o.Available == nil {
		o.Available = func() error { return nil }
	}
	return &Service{store: s, available: o.Available, maxBatch: cmp.Or(o.MaxBatch, 1000),
		queue: make(chan *request, cmp.Or(o.Queue, 10_000))}
}

// Create creates a plant and returns when it is durable. If ctx is done earlier, Create returns,
// but an accepted creation is still carried out.
func (s *Service) Create(ctx context.Context, c store.Creation) (store.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return store.Outcome{}, herb.Wrap(herb.CodeUnavailable, err, "the request ended before the plant was created")
	}
	if err := s.available(); err != nil {
		return store.Outcome{}, err
	}
	r := &request{creation: c, done: make(chan struct{})}
	if err := s.enqueue(r); err != nil {
		return store.Outcome{}, err
	}
	select {
	case <-r.done:
	case <-ctx.Done():
	}
	select {
	case <-r.done: // perhaps both were ready
		return r.outcome, r.err
	default:
		return store.Outcome{}, herb.Wrap(herb.CodeUnavailable, ctx.Err(),
			"the request ended while the plant was being created; it may exist, so repeat the request with its "+
				"Idempotency-Key")
	}
}

func (s *Service) enqueue(r *request) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return herb.Errorf(herb.CodeUnavailable, "the server is shutting down; try again")
	}
	select {
	case s.queue <- r:
		return nil
	default:
		return herb.Errorf(herb.CodeUnavailable, "too many plants are being created; try again")
	}
}

// Run commits creations until ctx is done. Then it rejects new ones, finishes those that were
// accepted, and returns. It must be called once.
func (s *Service) Run(ctx context.Context) error {
	work := context.WithoutCancel(ctx) // accepted requests are finished
	for {
		select {
		case r := <-s.queue:
			s.commit(work, s.collectBatch(r))
		case <-ctx.Done():
			s.mu.Lock()
			s.closed = true
			s.mu.Unlock()
			for len(s.queue) > 0 {
				s.commit(work, s.collectBatch(<-s.queue))
			}
			return nil
		}
	}
}

// collectBatch returns a request and those queued behind it, up to the size of a batch.
func (s *Service) collectBatch(first *request) []*request {
	batch := []*request{first}
	for len(batch) < s.maxBatch {
		select {
		case r := <-s.queue:
			batch = append(batch, r)
		default:
			return batch
		}
	}
	return batch
}

// commit creates the plants of a batch and sends each request its result.
func (s *Service) commit(ctx context.Context, batch []*request) {
	creations := make([]store.Creation, len(batch))
	for i, r := range batch {
		creations[i] = r.creation
	}
	outcomes, err := s.store.CreatePlants(ctx, creations)
	if err == nil && len(outcomes) != len(batch) {
		err = fmt.Errorf("the store returned %d outcomes for %d creations", len(outcomes), len(batch))
	}
	if err != nil && herb.CodeOf(err) != herb.CodeUnavailable {
		// Other errors are not caused by any of these requests.
		err = herb.Wrap(herb.CodeInternal, err, "creating plants")
	}
	for i, r := range batch {
		r.err = err
		if err == nil {
			r.outcome = outcomes[i]
		}
		close(r.done)
	}
}
