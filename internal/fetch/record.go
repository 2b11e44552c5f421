package fetch

import (
	"context"
	"errors"
	"sync"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// renew extends the claim of a fetch until the returned function is called.
func (s *Service) renew(ctx context.Context, f store.Fetch) (stop func()) {
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
				f.Claimed = s.opts.Now().Add(lease)
				_, _ = s.opts.Store.UpdateFetch(ctx, f) // the next attempt follows
			}
		}
	})
	return func() {
		cancel()
		renewing.Wait()
	}
}

// record records the result of a fetch, and when the next one is.
func (s *Service) record(ctx context.Context, f store.Fetch, state storedState, outcome Outcome, err error) {
	now := s.opts.Now().UTC()
	interrupted := ctx.Err() != nil && outcome == OutcomeFailed
	f.Claimed = time.Time{}
	next := state.Refresh.Next(now)
	switch {
	case interrupted: // the next server need not wait
		f.Content = state.encode()
	case err == nil:
		state.Checked, state.Failing, state.Failures, state.Error = now, time.Time{}, 0, ""
	default:
		if state.Failures == 0 {
			state.Failing = now
		}
		state.Failures++
		state.Error = herb.Clip(err.Error(), maxError)
		atLeast := time.Duration(0)
		if retry, ok := errors.AsType[*retryError](err); ok {
			atLeast = retry.after
		}
		if later := now.Add(pauseAfter(state.Failures, atLeast)); !next.IsZero() && (atLeast > 0 || later.After(next)) {
			next = later
		}
	}
	if !interrupted {
		f.Due = next
		if !next.IsZero() {
			f.Due = next.Add(s.opts.Jitter(min(next.Sub(now), time.Hour)))
		}
		f.Content = state.encode()
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	if _, err := s.opts.Store.UpdateFetch(limited, f); err != nil {
		s.opts.Log.Warn("cannot record a fetch; it may be repeated", "dataset", f.Ref.String(), "err", err)
	}
	if !interrupted {
		s.opts.Observe(outcome)
	}
}
