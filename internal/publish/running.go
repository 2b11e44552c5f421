package publish

import (
	"context"
	"sync"
	"time"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/progress"
	"herbarium/internal/store"
	"herbarium/internal/versions"
)

const (
	// renewEvery is how often the state of a running publish is compared with the last one that
	// was stored.
	renewEvery = time.Second
	// renewAfter is how long an unchanged state is left alone.
	renewAfter = 5 * time.Second
	// lease is how long a stored state is valid without being renewed. Clocks of nodes may differ
	// by most of it.
	lease = 30 * time.Second
	// saveTimeout limits the time for storing a state.
	saveTimeout = 10 * time.Second
)

// running is a publish that this server runs.
type running struct {
	queue   *Queue
	request Request
	done    chan struct{}    // closed when the publish has ended
	ticket  admission.Ticket // has a slot of the lane Publish until the publish has ended

	mu    sync.Mutex
	state Publish
	saved time.Time // when the state was last stored
	dirty bool      // the state changed since then
}

// current returns the publish as it is now.
func (r *running) current() Publish {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// report records the progress.
func (r *running) report(p progress.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.State, r.dirty = stateOf(p.Phase), true
	r.state.Progress = &p
}

// stored returns the publish as it is stored now.
func (r *running) stored() store.Publish {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.queue.opts.Now()
	r.state.Updated = now.UTC().Truncate(time.Millisecond)
	r.saved, r.dirty = now, false
	return storedPublish{r.state, r.request.Actor}.encode(now)
}

// renew stores the state, when it changes and every few seconds, until the returned function is
// called. Errors are ignored: the next attempt follows.
func (r *running) renew(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		tick := time.NewTicker(renewEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			r.mu.Lock()
			due := r.dirty || r.queue.opts.Now().Sub(r.saved) >= renewAfter
			r.mu.Unlock()
			if due {
				_ = r.save(ctx)
			}
		}
	})
	return func() {
		cancel()
		renewing.Wait()
	}
}

func (r *running) save(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	return r.queue.opts.Store.UpdatePublish(ctx, r.stored())
}

// end records the result. If it cannot be stored, clients of other nodes are told that the publish
// failed, and sending the file again tells them that it is unchanged.
func (r *running) end(result versions.Result, err error) {
	r.mu.Lock()
	if err != nil {
		r.state.Code = herb.CodeOf(err)
	}
	r.state.State, r.state.Progress, r.state.Result = finalState(result.Status), nil, &result
	r.mu.Unlock()
	if err := r.save(context.Background()); err != nil {
		r.queue.opts.Log.Warn("cannot record the result of a publish", "dataset", r.request.Ref.String(), "err", err)
	}
	if r.request.Ended != nil {
		r.request.Ended(r.current())
	}
	close(r.done)
}
