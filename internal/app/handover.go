package app

import (
	"context"
	"sync/atomic"
	"time"
)

// servers are the servers that share a database.
type servers interface {
	SetServing(ctx context.Context, serving bool) error
	IsServedElsewhere(ctx context.Context) (bool, error)
}

const (
	// handoverLimit limits the time in which a server leaves requests to others.
	handoverLimit = 10 * time.Minute
	// handoverEvery is the interval at which a server looks for others until it is ready.
	handoverEvery = 2 * time.Second
	// handoverTimeout limits the time of a query.
	handoverTimeout = 2 * time.Second
	// handoverDown is how long the database fails before a server does not wait for others: one
	// query may fail on a busy machine.
	handoverDown = 15 * time.Second
	// servingEvery is the interval at which a server records again that it is ready, because a
	// database that has failed over may have lost it.
	servingEvery = 10 * time.Second
)

// handover keeps a server that was upgraded out of service while other servers list datasets whose
// indexes it does not have yet. Otherwise a rolling upgrade would replace the last server that
// lists them. It ends when the indexes are complete, no other server is ready, or the limit is
// reached, and does not begin again. The zero value never keeps a server out of service.
type handover struct {
	servers   servers     // nil: there are no others
	elsewhere atomic.Bool // another server is ready
	began     atomic.Pointer[time.Time]
	ended     atomic.Bool
}

// isWaiting reports whether a server that is ready otherwise leaves requests to others. pending is
// the number of datasets that it cannot list until their indexes are complete.
func (h *handover) isWaiting(pending int) bool {
	if h.ended.Load() {
		return false
	}
	h.began.CompareAndSwap(nil, new(time.Now()))
	if pending > 0 && h.elsewhere.Load() && time.Since(*h.began.Load()) < handoverLimit {
		return true
	}
	h.ended.Store(true)
	return false
}

// run records whether this server is ready, and looks for other ones, until ctx is done. Without
// the database, the server does not wait for others.
func (h *handover) run(ctx context.Context, isServing func() bool) {
	if h.servers == nil {
		return
	}
	recorded, at, answered := false, time.Time{}, time.Now()
	for {
		limited, cancel := context.WithTimeout(ctx, handoverTimeout)
		if !h.ended.Load() {
			is, err := h.servers.IsServedElsewhere(limited)
			switch {
			case err == nil:
				h.elsewhere.Store(is)
				answered = time.Now()
			case time.Since(answered) >= handoverDown:
				h.elsewhere.Store(false)
			}
		}
		serving := isServing()
		if serving != recorded || time.Since(at) >= servingEvery {
			err := h.servers.SetServing(limited, serving)
			if err == nil {
				recorded, at = serving, time.Now()
			}
		}
		cancel()
		select {
		case <-ctx.Done():
			return
		case <-time.After(handoverEvery):
		}
	}
}
